// Element types of HDF5 data sets.
#pragma once

#include <optional>

#include "stages/datasets/stored_values.hpp"
#include <hdf5.h>

namespace cachebisect::stages {

/// Empty for a type that is no number of a whole number of bytes. Call it in an Hdf5Section.
[[nodiscard]] std::optional<StoredType> stored_type_of_hdf5(hid_t type);

/// Registers LZF, h5py's own filter, unless libhdf5 has it. Call it in an Hdf5Section.
void register_lzf();

}  // namespace cachebisect::stages
