// Data sets of HDF5 files, and variables of NetCDF-4. libhdf5 loads thirty libraries, so it is in a
// module that the first such pipeline opens.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "stages/datasets/stored_array.hpp"

namespace cachebisect::stages {

struct Hdf5Request {
  std::string file;
  std::string name;             ///< of the data set in the file: "train/images"
  std::size_t cache_bytes = 0;  ///< of decoded chunks that libhdf5 keeps for it
  bool attributes = false;      ///< those that say what values mean are read
  bool netcdf = false;          ///< the file is NetCDF-4, and the data set a variable
};

/// The module's only function, `cachebisect_hdf5_open`. The caller owns what it returns.
using OpenHdf5 = StoredArray* (*)(const Hdf5Request& request);

/// libhdf5 runs one call at a time in the whole process: reading does not scale with threads.
/// Throws Error(data) that names the file for what is missing, damaged or cannot be read;
/// Error(usage) with the remedy if this build has no libhdf5.
[[nodiscard]] std::unique_ptr<StoredArray> open_hdf5(const Hdf5Request& request);

}  // namespace cachebisect::stages
