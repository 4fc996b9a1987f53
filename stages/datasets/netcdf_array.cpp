#include "stages/datasets/netcdf_array.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "stages/datasets/netcdf_classic.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/own_module.hpp"

namespace cachebisect::stages {
namespace {

std::unique_ptr<NetcdfArray> open_netcdf_4(const std::string& file, const std::string& name,
                                           std::size_t cache_bytes) {
#ifdef CACHEBISECT_WITH_HDF5
  constexpr const char* kFunction = "cachebisect_hdf5_open_variable";
  const auto open =
      open_own_module("libcachebisect_hdf5.so", kFunction)->function<OpenHdf5Variable>(kFunction);
  return std::unique_ptr<NetcdfArray>(open(file, name, cache_bytes));
#else
  static_cast<void>(name);
  static_cast<void>(cache_bytes);
  throw Error(ErrorKind::usage, file +
                                    ": is NetCDF-4, and this build has no HDF5 (libhdf5); build "
                                    "with CACHEBISECT_WITH_HDF5=ON where libhdf5-dev is installed");
#endif
}

}  // namespace

std::unique_ptr<NetcdfArray> open_netcdf(const std::string& file, const std::string& name,
                                         std::size_t cache_bytes) {
  constexpr std::string_view kHdf5Magic("\211HDF\r\n\032\n", 8);
  std::array<std::byte, kHdf5Magic.size()> begin{};
  {
    const InputFile input(file);
    input.read(0, std::span(begin).first(std::min<std::uint64_t>(input.size(), begin.size())));
  }
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  if (text == kHdf5Magic) return open_netcdf_4(file, name, cache_bytes);
  if (text.starts_with("CDF")) return open_netcdf_classic(file, name);
  throw Error(
      ErrorKind::data,
      file + ": is no NetCDF file: it begins neither as the classic formats nor as NetCDF-4");
}

}  // namespace cachebisect::stages
