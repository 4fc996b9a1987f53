// Variables of NetCDF files: the classic formats by our own reader, NetCDF-4 by the HDF5 module.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "stages/datasets/stored_array.hpp"

namespace cachebisect::stages {

/// `name`: of the variable: "t2m"; "forecast/t2m" in a group of NetCDF-4. `cache_bytes`: of chunks
/// that libhdf5 keeps for it. Throws Error(data) that names the file for what is missing, damaged
/// or cannot be read; Error(usage) with the remedy for NetCDF-4 in a build without libhdf5.
[[nodiscard]] std::unique_ptr<StoredArray> open_netcdf(const std::string& file,
                                                       const std::string& name,
                                                       std::size_t cache_bytes);

}  // namespace cachebisect::stages
