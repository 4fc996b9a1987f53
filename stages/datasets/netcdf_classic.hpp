// Variables of the classic NetCDF formats, each element at a place that the header says.
#pragma once

#include <memory>
#include <string>

#include "stages/datasets/stored_array.hpp"

namespace cachebisect::stages {

/// As open_netcdf(). It has no lock: threads read at once.
[[nodiscard]] std::unique_ptr<StoredArray> open_netcdf_classic(const std::string& file,
                                                               const std::string& name);

}  // namespace cachebisect::stages
