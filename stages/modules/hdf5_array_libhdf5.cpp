// The module that datasets/hdf5_array.hpp opens: with its neighbours the only code that links
// libhdf5.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stages/datasets/hdf5_array.hpp"
#include "stages/modules/hdf5_dataset.hpp"
#include "stages/modules/hdf5_handles.hpp"
#include "stages/modules/hdf5_types.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {
namespace {

class LibHdf5Array final : public Hdf5Array {
 public:
  LibHdf5Array(const std::string& path, const std::string& name, std::size_t cache_bytes)
      : data_(path, name, "data set") {
    const InputFile regular(path);  // names what is no file, and never waits for a FIFO
    const Hdf5Section section;
    try {
      data_.open(cache_bytes);
      check_type();
      data_.measure(size_of(facts_.dtype));
      facts_.shape = data_.shape();
      if (item_bytes() > kMostItemBytes)
        data_.refuse("has items of " + std::to_string(item_bytes()) + " bytes; 1 GiB can be read");
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
    data_.read(items(first, count), type_.id(), out);
    if (facts_.dtype == DType::boolean) {
      const std::size_t bytes = count * item_bytes();
      std::for_each(out, out + bytes,
                    [](std::byte& b) { b = b == std::byte{0} ? b : std::byte{1}; });
    }
    return monotonic_seconds() - began;
  }

  [[nodiscard]] std::vector<FileRange> files(std::uint64_t index) const override {
    return data_.files(items(index, 1));
  }

 private:
  void close() noexcept {
    type_.reset();
    data_.close();
  }

  [[nodiscard]] ArrayBox items(std::uint64_t first, std::uint64_t count) const {
    ArrayBox box{facts_.shape, facts_.shape};
    for (std::size_t axis = 0; axis < facts_.shape.rank(); ++axis) box.begin[axis] = 0;
    box.begin[0] = static_cast<std::int64_t>(first);
    box.extent[0] = static_cast<std::int64_t>(count);
    return box;
  }

  [[nodiscard]] std::size_t item_bytes() const noexcept {
    return static_cast<std::size_t>(facts_.shape.elements() / facts_.shape[0]) *
           size_of(facts_.dtype);
  }

  void check_type() {
    const Hdf5Handle stored(H5Dget_type(data_.id()), H5Tclose);
    const std::optional<DType> dtype = dtype_of_hdf5(stored.id());
    if (!dtype) {
      data_.refuse(
          "has elements that cannot be read; uint8, int8, uint16, int32, int64, float16, "
          "bfloat16, float32, float64 and bool can: convert the data set");
    }
    facts_.dtype = *dtype;
    type_ = {H5Tcopy(stored.id()), H5Tclose};
    const bool ordered =
        *dtype == DType::boolean || H5Tset_order(type_.id(), H5Tget_order(H5T_NATIVE_INT)) >= 0;
    if (!type_.is_open() || !ordered) data_.refuse("has elements of no byte order");
  }

  Hdf5Dataset data_;
  Hdf5Handle type_;  ///< in memory
};

}  // namespace
}  // namespace cachebisect::stages

extern "C" CACHEBISECT_INTERNAL_API cachebisect::stages::Hdf5Array* cachebisect_hdf5_open(
    const std::string& file, const std::string& name, std::size_t cache_bytes) {
  return std::make_unique<cachebisect::stages::LibHdf5Array>(file, name, cache_bytes).release();
}
