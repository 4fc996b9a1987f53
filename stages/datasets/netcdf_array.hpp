// Variables of NetCDF files: the classic formats by our own reader, NetCDF-4 by the HDF5 module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/datasets/array_box.hpp"
#include "stages/datasets/netcdf_values.hpp"

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/shape.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// A variable of a NetCDF file that was opened for reading. Thread safe.
class NetcdfArray {
 public:
  struct Facts {
    StoredType type = StoredType::uint8;
    Shape shape;  ///< one to six axes, nothing is empty; unlimited ones as long as was written
    PackingAttributes attributes;
  };

  NetcdfArray() = default;
  NetcdfArray(const NetcdfArray&) = delete;
  NetcdfArray& operator=(const NetcdfArray&) = delete;
  virtual ~NetcdfArray() = default;

  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  /// Writes the elements of `box` to `out` as they are stored, densely and in this machine's byte
  /// order. Returns the seconds during which no other thread could read. Throws Error(data) that
  /// names the file.
  virtual double read(const ArrayBox& box, std::byte* out) const = 0;
  /// Where the elements of `box` are; the whole file if that is not known.
  [[nodiscard]] virtual std::vector<FileRange> files(const ArrayBox& box) const = 0;

 protected:
  Facts facts_;
};

/// The module's function `cachebisect_hdf5_open_variable`. The caller owns what it returns.
using OpenHdf5Variable = NetcdfArray* (*)(const std::string& file, const std::string& name,
                                          std::size_t cache_bytes);

/// `name`: of the variable: "t2m"; "forecast/t2m" in a group of NetCDF-4. `cache_bytes`: of chunks
/// that libhdf5 keeps for it. Throws Error(data) that names the file for what is missing, damaged
/// or cannot be read; Error(usage) with the remedy for NetCDF-4 in a build without libhdf5.
[[nodiscard]] std::unique_ptr<NetcdfArray> open_netcdf(const std::string& file,
                                                       const std::string& name,
                                                       std::size_t cache_bytes);

}  // namespace cachebisect::stages
