// Attributes of HDF5 data sets that say what their values mean.
#pragma once

#include <string>

#include "stages/datasets/stored_values.hpp"
#include <hdf5.h>

namespace cachebisect::stages {

/// Empty if there is no text of this name. Call both in an Hdf5Section.
[[nodiscard]] std::string hdf5_text(hid_t data_set, const char* name);
/// By the conventions of NetCDF and CF. `settings`: those that the data set was made with.
[[nodiscard]] PackingAttributes hdf5_packing(hid_t data_set, hid_t settings);

}  // namespace cachebisect::stages
