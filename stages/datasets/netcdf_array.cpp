#include "stages/datasets/netcdf_array.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "stages/datasets/hdf5_array.hpp"
#include "stages/datasets/netcdf_classic.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

std::unique_ptr<StoredArray> open_netcdf(const std::string& file, const std::string& name,
                                         std::size_t cache_bytes) {
  constexpr std::string_view kHdf5Magic("\211HDF\r\n\032\n", 8);
  std::array<std::byte, kHdf5Magic.size()> begin{};
  {
    const InputFile input(file);
    input.read(0, std::span(begin).first(std::min<std::uint64_t>(input.size(), begin.size())));
  }
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  if (text == kHdf5Magic) {
    return open_hdf5({.file = file,
                      .name = name,
                      .cache_bytes = cache_bytes,
                      .attributes = true,
                      .netcdf = true});
  }
  if (text.starts_with("CDF")) return open_netcdf_classic(file, name);
  throw Error(
      ErrorKind::data,
      file + ": is no NetCDF file: it begins neither as the classic formats nor as NetCDF-4");
}

}  // namespace cachebisect::stages
