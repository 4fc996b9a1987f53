#include "stages/datasets/hdf5_array.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/own_module.hpp"

namespace cachebisect::stages {

std::unique_ptr<StoredArray> open_hdf5(const Hdf5Request& request) {
#ifdef CACHEBISECT_WITH_HDF5
  constexpr const char* kFunction = "cachebisect_hdf5_open";
  const auto open =
      open_own_module("libcachebisect_hdf5.so", kFunction)->function<OpenHdf5>(kFunction);
  return std::unique_ptr<StoredArray>(open(request));
#else
  throw Error(ErrorKind::usage, request.file + (request.netcdf ? ": is NetCDF-4, and" : ":") +
                                    " this build has no HDF5 (libhdf5); build with "
                                    "CACHEBISECT_WITH_HDF5=ON where libhdf5-dev is installed");
#endif
}

}  // namespace cachebisect::stages
