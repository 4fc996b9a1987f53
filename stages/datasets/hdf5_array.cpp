#include "stages/datasets/hdf5_array.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/own_module.hpp"

namespace cachebisect::stages {

std::unique_ptr<Hdf5Array> open_hdf5(const std::string& file, const std::string& name,
                                     std::size_t cache_bytes) {
#ifdef CACHEBISECT_WITH_HDF5
  constexpr const char* kFunction = "cachebisect_hdf5_open";
  const auto open =
      open_own_module("libcachebisect_hdf5.so", kFunction)->function<OpenHdf5>(kFunction);
  return std::unique_ptr<Hdf5Array>(open(file, name, cache_bytes));
#else
  static_cast<void>(name);
  static_cast<void>(cache_bytes);
  throw Error(ErrorKind::usage, file +
                                    ": this build has no HDF5 (libhdf5); build with "
                                    "CACHEBISECT_WITH_HDF5=ON where libhdf5-dev is installed");
#endif
}

}  // namespace cachebisect::stages
