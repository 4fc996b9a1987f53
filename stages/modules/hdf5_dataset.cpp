#include "stages/modules/hdf5_dataset.hpp"

#include <algorithm>
#include <utility>

#include "stages/modules/hdf5_types.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect::stages {
namespace {

/// Below it, the place of each chunk is kept.
constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 20U;

}  // namespace

Hdf5Dataset::Hdf5Dataset(std::string path, std::string name, std::string word)
    : path_(std::move(path)), name_(std::move(name)), word_(std::move(word)) {}

void Hdf5Dataset::open(std::size_t cache_bytes) {
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

void Hdf5Dataset::close() noexcept {
  for (Hdf5Handle* handle : {&space_, &settings_, &array_, &file_}) handle->reset();
}

void Hdf5Dataset::measure(std::size_t element_bytes) {
  element_bytes_ = element_bytes;
  check_shape();
  check_storage();
  find_chunks();
}

void Hdf5Dataset::check_shape() {
  const int rank = H5Sget_simple_extent_ndims(space_.id());
  if (rank < 1 || rank > static_cast<int>(Shape::kMaxRank)) {
    refuse("has " + std::to_string(rank) + " axes; 1 to " + std::to_string(Shape::kMaxRank) +
           " can be read");
  }
  H5Sget_simple_extent_dims(space_.id(), dims_.data(), nullptr);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
  std::uint64_t room = kMost / element_bytes_;
  std::vector<std::int64_t> shape;
  for (int axis = 0; axis < rank; ++axis) {
    const hsize_t dim = dims_[static_cast<std::size_t>(axis)];
    if (dim == 0) refuse("has no elements");
    room /= dim;
    if (room == 0) refuse("claims more elements than fit 64 bits");
    shape.push_back(static_cast<std::int64_t>(dim));
  }
  shape_ = Shape(shape);
}

void Hdf5Dataset::check_storage() {
  if (H5Pget_layout(settings_.id()) == H5D_VIRTUAL) refuse("is virtual: name what it refers to");
  if (H5Pget_external_count(settings_.id()) > 0) refuse("has its elements in other files");
  register_lzf();
  check_filters();
}

void Hdf5Dataset::check_filters() {
  const int filters = H5Pget_nfilters(settings_.id());
  for (unsigned i = 0; static_cast<int>(i) < filters; ++i) {
    std::array<char, 64> filter_name{};
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(settings_.id(), i, nullptr, &values, nullptr,
                                               filter_name.size(), filter_name.data(), nullptr);
    if (H5Zfilter_avail(filter) > 0) continue;
    refuse("is stored by the filter " + std::to_string(filter) + " " + quote(filter_name.data()) +
           ", which libhdf5 lacks here: name the folder of its plugin in HDF5_PLUGIN_PATH, or "
           "write the " +
           word_ + " with gzip");
  }
}

void Hdf5Dataset::find_chunks() {
  const H5D_layout_t layout = H5Pget_layout(settings_.id());
  if (layout == H5D_CONTIGUOUS) {
    const haddr_t offset = H5Dget_offset(array_.id());
    if (offset != HADDR_UNDEF) contiguous_at_ = offset;
    return;
  }
  const int rank = static_cast<int>(shape_.rank());
  if (layout != H5D_CHUNKED || H5Pget_chunk(settings_.id(), rank, chunk_.data()) != rank) return;
  std::uint64_t chunk_bytes = element_bytes_;
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
    if (chunk_[axis] == 0 || chunk_[axis] > kMostChunkBytes / chunk_bytes)
      refuse("claims chunks of more than 1 GiB, which cannot be read");
    chunk_bytes *= chunk_[axis];
    grid_[axis] = (dims_[axis] - 1) / chunk_[axis] + 1;
    count = grid_[axis] > kMostChunks / count ? kMostChunks + 1 : count * grid_[axis];
    if (count > kMostChunks) count = kMostChunks + 1;
  }
#if H5_VERSION_GE(1, 10, 5)
  if (count > kMostChunks) return;
  chunks_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) chunks_.push_back(chunk_at(i));
#endif
}

#if H5_VERSION_GE(1, 10, 5)
Hdf5Dataset::Chunk Hdf5Dataset::chunk_at(std::uint64_t number) const {
  Dims offset{};
  for (std::size_t axis = shape_.rank(); axis-- > 0; number /= grid_[axis])
    offset[axis] = number % grid_[axis] * chunk_[axis];
  unsigned mask = 0;
  haddr_t at = HADDR_UNDEF;
  hsize_t bytes = 0;
  if (H5Dget_chunk_info_by_coord(array_.id(), offset.data(), &mask, &at, &bytes) < 0)
    refuse("has a damaged table of chunks: " + hdf5_reason());
  return at == HADDR_UNDEF ? Chunk{} : Chunk{at, bytes};
}
#endif

void Hdf5Dataset::read(const ArrayBox& box, hid_t type, std::byte* out) const {
  Dims start{};
  Dims extent{};
  for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
    start[axis] = static_cast<hsize_t>(box.begin[axis]);
    extent[axis] = static_cast<hsize_t>(box.extent[axis]);
  }
  const Hdf5Handle memory(H5Screate_simple(static_cast<int>(shape_.rank()), extent.data(), nullptr),
                          H5Sclose);
  const bool done = H5Sselect_hyperslab(space_.id(), H5S_SELECT_SET, start.data(), nullptr,
                                        extent.data(), nullptr) >= 0 &&
                    H5Dread(array_.id(), type, memory.id(), space_.id(), H5P_DEFAULT, out) >= 0;
  if (!done) refuse("item " + std::to_string(start[0]) + " cannot be read: " + hdf5_reason());
}

std::vector<FileRange> Hdf5Dataset::files(const ArrayBox& box) const {
  if (contiguous_at_) {
    const Strides strides = dense_strides(shape_);
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
      first += box.begin[axis] * strides[axis];
      last += (box.begin[axis] + box.extent[axis] - 1) * strides[axis];
    }
    return {{path_, *contiguous_at_ + static_cast<std::uint64_t>(first) * element_bytes_,
             static_cast<std::uint64_t>(last - first + 1) * element_bytes_}};
  }
  if (chunks_.empty()) return {{path_, 0, FileRange::kToEnd}};
  std::vector<FileRange> ranges;
  Dims first{};
  Dims last{};
  for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
    first[axis] = static_cast<hsize_t>(box.begin[axis]) / chunk_[axis];
    last[axis] = static_cast<hsize_t>(box.begin[axis] + box.extent[axis] - 1) / chunk_[axis];
  }
  Dims place = first;
  const auto next = [&] {
    for (std::size_t axis = shape_.rank(); axis-- > 0; place[axis] = first[axis]) {
      if (++place[axis] <= last[axis]) return true;
    }
    return false;
  };
  do {
    std::uint64_t number = 0;
    for (std::size_t axis = 0; axis < shape_.rank(); ++axis)
      number = number * grid_[axis] + place[axis];
    const Chunk& chunk = chunks_[number];
    if (chunk.bytes > 0) ranges.push_back({path_, chunk.offset, chunk.bytes});
  } while (next());
  if (ranges.empty()) ranges.push_back({path_, 0, 0});
  return ranges;
}

void Hdf5Dataset::refuse(const std::string& what) const {
  throw Error(ErrorKind::data, path_ + ": the " + word_ + " " + quote(name_) + " " + what);
}

}  // namespace cachebisect::stages
