// The module that datasets/hdf5_array.hpp opens: the only code that links libhdf5.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/hdf5_array.hpp"
#include "stages/modules/hdf5_handles.hpp"
#include "stages/modules/hdf5_types.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {
namespace {

using Dims = std::array<hsize_t, Shape::kMaxRank>;

/// Below it, the place of each chunk is kept.
constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 20U;

class LibHdf5Array final : public Hdf5Array {
 public:
  LibHdf5Array(std::string path, std::string name, std::size_t cache_bytes)
      : path_(std::move(path)), name_(std::move(name)) {
    const InputFile regular(path_);  // names what is no file, and never waits for a FIFO
    const Hdf5Section section;
    try {
      open(cache_bytes);
      check_type();
      check_shape();
      check_storage();
      find_chunks();
    } catch (...) {
      close();
      throw;
    }
  }
  ~LibHdf5Array() override {
    const Hdf5Section section;
    close();
  }

  double read(std::uint64_t first, std::uint64_t count, std::byte* out) const override {
    const Hdf5Section section;
    const double began = monotonic_seconds();
    Dims start{first};
    Dims extent = dims_;
    extent[0] = count;
    const auto rank = static_cast<int>(facts_.shape.rank());
    const Hdf5Handle memory(H5Screate_simple(rank, extent.data(), nullptr), H5Sclose);
    const bool done =
        H5Sselect_hyperslab(space_.id(), H5S_SELECT_SET, start.data(), nullptr, extent.data(),
                            nullptr) >= 0 &&
        H5Dread(array_.id(), type_.id(), memory.id(), space_.id(), H5P_DEFAULT, out) >= 0;
    if (!done) refuse("item " + std::to_string(first) + " cannot be read: " + hdf5_reason());
    if (facts_.dtype == DType::boolean) {
      const std::size_t bytes = count * item_bytes();
      std::for_each(out, out + bytes,
                    [](std::byte& b) { b = b == std::byte{0} ? b : std::byte{1}; });
    }
    return monotonic_seconds() - began;
  }

  [[nodiscard]] std::vector<FileRange> files(std::uint64_t index) const override {
    if (contiguous_at_) return {{path_, *contiguous_at_ + index * item_bytes(), item_bytes()}};
    if (chunks_.empty()) return {{path_, 0, FileRange::kToEnd}};
    std::vector<FileRange> ranges;
    const std::uint64_t row = index / chunk_rows_;
    for (std::uint64_t i = row * chunks_per_row_; i < (row + 1) * chunks_per_row_; ++i) {
      if (chunks_[i].bytes > 0) ranges.push_back({path_, chunks_[i].offset, chunks_[i].bytes});
    }
    if (ranges.empty()) ranges.push_back({path_, 0, 0});
    return ranges;
  }

 private:
  struct Chunk {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  ///< 0: missing
  };

  void close() noexcept {
    for (Hdf5Handle* handle : {&space_, &type_, &settings_, &array_, &file_}) handle->reset();
  }

  [[nodiscard]] std::size_t item_bytes() const noexcept {
    return static_cast<std::size_t>(facts_.shape.elements() / facts_.shape[0]) *
           size_of(facts_.dtype);
  }

  void open(std::size_t cache_bytes) {
    constexpr std::size_t kSlots = 12'421;  // a prime, as libhdf5 advises
    const Hdf5Handle file_access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
    // A lock would need a disk that can be written.
    H5Pset_file_locking(file_access.id(), false, true);
#endif
    file_ = {H5Fopen(path_.c_str(), H5F_ACC_RDONLY, file_access.id()), H5Fclose};
    if (!file_.is_open())
      throw Error(ErrorKind::data, path_ + ": is no whole HDF5 file: " + hdf5_reason());
    const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access.id(), kSlots, cache_bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    array_ = {H5Dopen2(file_.id(), name_.c_str(), access.id()), H5Dclose};
    if (!array_.is_open()) refuse("cannot be opened: " + hdf5_reason());
    settings_ = {H5Dget_create_plist(array_.id()), H5Pclose};
    space_ = {H5Dget_space(array_.id()), H5Sclose};
  }

  void check_type() {
    const Hdf5Handle stored(H5Dget_type(array_.id()), H5Tclose);
    const std::optional<DType> dtype = dtype_of_hdf5(stored.id());
    if (!dtype) {
      refuse(
          "has elements that cannot be read; uint8, int8, uint16, int32, int64, float16, "
          "bfloat16, float32, float64 and bool can: convert the data set");
    }
    facts_.dtype = *dtype;
    type_ = {H5Tcopy(stored.id()), H5Tclose};
    const bool ordered =
        *dtype == DType::boolean || H5Tset_order(type_.id(), H5Tget_order(H5T_NATIVE_INT)) >= 0;
    if (!type_.is_open() || !ordered) refuse("has elements of no byte order");
  }

  void check_shape() {
    const int rank = H5Sget_simple_extent_ndims(space_.id());
    if (rank < 1 || rank > static_cast<int>(Shape::kMaxRank)) {
      refuse("has " + std::to_string(rank) + " axes; 1 to " + std::to_string(Shape::kMaxRank) +
             " can be read");
    }
    H5Sget_simple_extent_dims(space_.id(), dims_.data(), nullptr);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
    std::uint64_t room = kMost / size_of(facts_.dtype);
    std::vector<std::int64_t> shape;
    for (int axis = 0; axis < rank; ++axis) {
      const hsize_t dim = dims_[static_cast<std::size_t>(axis)];
      if (dim == 0) refuse("has no elements");
      room /= dim;
      if (room == 0) refuse("claims more elements than fit 64 bits");
      shape.push_back(static_cast<std::int64_t>(dim));
    }
    facts_.shape = Shape(shape);
    if (item_bytes() > kMostItemBytes)
      refuse("has items of " + std::to_string(item_bytes()) + " bytes; 1 GiB can be read");
  }

  void check_storage() {
    if (H5Pget_layout(settings_.id()) == H5D_VIRTUAL) refuse("is virtual: name what it refers to");
    if (H5Pget_external_count(settings_.id()) > 0) refuse("has its elements in other files");
    register_lzf();
    const int filters = H5Pget_nfilters(settings_.id());
    for (unsigned i = 0; static_cast<int>(i) < filters; ++i) {
      std::array<char, 64> filter_name{};
      std::size_t values = 0;
      const H5Z_filter_t filter = H5Pget_filter2(settings_.id(), i, nullptr, &values, nullptr,
                                                 filter_name.size(), filter_name.data(), nullptr);
      if (H5Zfilter_avail(filter) > 0) continue;
      refuse("is stored by the filter " + std::to_string(filter) + " " + quote(filter_name.data()) +
             ", which libhdf5 lacks here: name the folder of its plugin in HDF5_PLUGIN_PATH, or "
             "write the data set with gzip");
    }
  }

  void find_chunks() {
    const H5D_layout_t layout = H5Pget_layout(settings_.id());
    if (layout == H5D_CONTIGUOUS) {
      const haddr_t offset = H5Dget_offset(array_.id());
      if (offset != HADDR_UNDEF) contiguous_at_ = offset;
      return;
    }
    Dims chunk{};
    const int rank = static_cast<int>(facts_.shape.rank());
    if (layout != H5D_CHUNKED || H5Pget_chunk(settings_.id(), rank, chunk.data()) != rank) return;
    std::uint64_t chunk_bytes = size_of(facts_.dtype);
    std::uint64_t count = 1;
    Dims grid{};
    for (std::size_t axis = 0; axis < facts_.shape.rank(); ++axis) {
      if (chunk[axis] == 0 || chunk[axis] > kMostItemBytes / chunk_bytes)
        refuse("claims chunks of more than 1 GiB, which cannot be read");
      chunk_bytes *= chunk[axis];
      grid[axis] = (dims_[axis] - 1) / chunk[axis] + 1;
      count = grid[axis] > kMostChunks / count ? kMostChunks + 1 : count * grid[axis];
      if (count > kMostChunks) count = kMostChunks + 1;
    }
#if H5_VERSION_GE(1, 10, 5)
    if (count > kMostChunks) return;
    chunk_rows_ = chunk[0];
    chunks_per_row_ = count / grid[0];
    chunks_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) chunks_.push_back(chunk_at(i, grid, chunk));
#endif
  }

#if H5_VERSION_GE(1, 10, 5)
  [[nodiscard]] Chunk chunk_at(std::uint64_t number, const Dims& grid, const Dims& chunk) const {
    Dims offset{};
    for (std::size_t axis = facts_.shape.rank(); axis-- > 0; number /= grid[axis])
      offset[axis] = number % grid[axis] * chunk[axis];
    unsigned mask = 0;
    haddr_t at = HADDR_UNDEF;
    hsize_t bytes = 0;
    if (H5Dget_chunk_info_by_coord(array_.id(), offset.data(), &mask, &at, &bytes) < 0)
      refuse("has a damaged table of chunks: " + hdf5_reason());
    return at == HADDR_UNDEF ? Chunk{} : Chunk{at, bytes};
  }
#endif

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::data, path_ + ": the data set " + quote(name_) + " " + what);
  }

  std::string path_;
  std::string name_;
  Hdf5Handle file_;
  Hdf5Handle array_;
  Hdf5Handle settings_;
  Hdf5Handle type_;   ///< in memory
  Hdf5Handle space_;  ///< in the file; its selection changes within a section
  Dims dims_{};
  std::optional<std::uint64_t> contiguous_at_;
  std::uint64_t chunk_rows_ = 1;
  std::uint64_t chunks_per_row_ = 1;
  std::vector<Chunk> chunks_;  ///< empty: not known
};

}  // namespace
}  // namespace cachebisect::stages

extern "C" CACHEBISECT_INTERNAL_API cachebisect::stages::Hdf5Array* cachebisect_hdf5_open(
    const std::string& file, const std::string& name, std::size_t cache_bytes) {
  return std::make_unique<cachebisect::stages::LibHdf5Array>(file, name, cache_bytes).release();
}
