// The module that datasets/hdf5_array.hpp opens: with its neighbours the only code that links
// libhdf5.
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stages/datasets/hdf5_array.hpp"
#include "stages/modules/hdf5_attributes.hpp"
#include "stages/modules/hdf5_dataset.hpp"
#include "stages/modules/hdf5_handles.hpp"
#include "stages/modules/hdf5_types.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {
namespace {

class LibHdf5Array final : public StoredArray {
 public:
  explicit LibHdf5Array(const Hdf5Request& request)
      : data_(request.file, request.name, request.netcdf ? "variable" : "data set") {
    const InputFile regular(request.file);  // names what is no file, and never waits for a FIFO
    const Hdf5Section section;
    try {
      data_.open(request.cache_bytes);
      check_type(request.netcdf);
      data_.measure(stored_bytes(facts_.type));
      facts_.shape = data_.shape();
      if (request.netcdf) refuse_dimension();
      if (request.attributes) facts_.attributes = hdf5_packing(data_.id(), data_.settings());
    } catch (...) {
      close();
      throw;
    }
  }
  ~LibHdf5Array() override {
    const Hdf5Section section;
    close();
  }

  double read(const ArrayBox& box, std::byte* out) const override {
    const Hdf5Section section;
    const double began = monotonic_seconds();
    data_.read(box, type_.id(), out);
    return monotonic_seconds() - began;
  }

  [[nodiscard]] std::vector<FileRange> files(const ArrayBox& box) const override {
    return data_.files(box);
  }

 private:
  void close() noexcept {
    type_.reset();
    data_.close();
  }

  void check_type(bool netcdf) {
    const Hdf5Handle stored(H5Dget_type(data_.id()), H5Tclose);
    const std::optional<StoredType> type = stored_type_of_hdf5(stored.id());
    // An enumeration of two values is what h5py writes for bool, and none in NetCDF.
    if (!type || (netcdf && *type == StoredType::boolean)) {
      data_.refuse(netcdf ? "has elements that are no numbers of NetCDF"
                          : "has elements that cannot be read; whole numbers of 1 to 8 bytes, "
                            "float16, bfloat16, float32, float64 and bool can: convert the data "
                            "set");
    }
    facts_.type = *type;
    type_ = {H5Tcopy(stored.id()), H5Tclose};
    const bool ordered =
        *type == StoredType::boolean || H5Tset_order(type_.id(), H5Tget_order(H5T_NATIVE_INT)) >= 0;
    if (!type_.is_open() || !ordered) data_.refuse("has elements of no byte order");
  }

  void refuse_dimension() const {
    if (hdf5_text(data_.id(), "NAME")
            .starts_with("This is a netCDF dimension but not a netCDF variable"))
      data_.refuse("is a dimension, which has no values");
  }

  Hdf5Dataset data_;
  Hdf5Handle type_;  ///< in memory
};

}  // namespace
}  // namespace cachebisect::stages

extern "C" CACHEBISECT_INTERNAL_API cachebisect::stages::StoredArray* cachebisect_hdf5_open(
    const cachebisect::stages::Hdf5Request& request) {
  return std::make_unique<cachebisect::stages::LibHdf5Array>(request).release();
}
