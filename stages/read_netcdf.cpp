// read.netcdf: items or windows of a variable in a NetCDF file.
#include <memory>
#include <string>

#include "stages/datasets/array_source.hpp"
#include "stages/datasets/netcdf_array.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

std::unique_ptr<Stage> make_netcdf_source(const Params& params) {
  const auto open = [path = params.string("path")](const std::string& name,
                                                   std::size_t cache_bytes) {
    return open_netcdf(path, name, cache_bytes);
  };
  return std::make_unique<ArraySource>(
      params, ArrayFormat{.word = "variable", .name = params.string("variable"), .open = open});
}

}  // namespace

void register_read_netcdf(Registry& registry) {
  registry.add(
      {.type = "read.netcdf",
       .doc = "Items or windows of a variable in a NetCDF file (classic formats and NetCDF-4), "
              "unpacked: array, label. libhdf5 reads one at a time of NetCDF-4",
       .kind = StageKind::source,
       .traits = {.allocates = true},
       .params = {{.name = "path", .type = ParamType::path, .doc = "the file"},
                  {.name = "variable",
                   .type = ParamType::string,
                   .doc = "name of the variable; in a group of NetCDF-4 with it: forecast/t2m"},
                  window_param(),
                  step_param(),
                  unpack_param(true),
                  labels_param("a variable in the same file"),
                  {.name = "chunk_cache_mb",
                   .type = ParamType::number,
                   .doc = "MB of decoded chunks of NetCDF-4 that libhdf5 keeps for all workers "
                          "together",
                   .default_value = 16.0,
                   .minimum = 0,
                   .maximum = 1e6}},
       .example = R"({"path": "${cache}/era5.nc", "variable": "t2m", "window": [64, 64]})",
       .make = make_netcdf_source});
}

}  // namespace cachebisect::stages
