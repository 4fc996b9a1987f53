// Element types of HDF5 data sets.
#pragma once

#include <optional>

#include <hdf5.h>

#include "cachebisect/data/dtype.hpp"

namespace cachebisect::stages {

/// Empty for a type that no tensor has. Call it in an Hdf5Section.
[[nodiscard]] std::optional<DType> dtype_of_hdf5(hid_t type);

/// Registers LZF, h5py's own filter, unless libhdf5 has it. Call it in an Hdf5Section.
void register_lzf();

}  // namespace cachebisect::stages
