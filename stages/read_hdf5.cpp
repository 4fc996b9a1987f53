// read.hdf5: items or windows of a data set in an HDF5 file.
#include <memory>
#include <string>

#include "stages/datasets/array_source.hpp"
#include "stages/datasets/hdf5_array.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

std::unique_ptr<Stage> make_hdf5_source(const Params& params) {
  const auto open = [path = params.string("path"), unpack = params.boolean("unpack")](
                        const std::string& name, std::size_t cache_bytes) {
    return open_hdf5(
        {.file = path, .name = name, .cache_bytes = cache_bytes, .attributes = unpack});
  };
  return std::make_unique<ArraySource>(
      params, ArrayFormat{.word = "data set", .name = params.string("array"), .open = open});
}

}  // namespace

void register_read_hdf5(Registry& registry) {
  registry.add(
      {.type = "read.hdf5",
       .doc = "Items or windows of a data set in an HDF5 file: array, label. libhdf5 reads one at "
              "a time, whatever the number of workers",
       .kind = StageKind::source,
       .traits = {.allocates = true},
       .params = {{.name = "path", .type = ParamType::path, .doc = "the file"},
                  {.name = "array",
                   .type = ParamType::string,
                   .doc = "name of the data set in the file: images, train/images"},
                  window_param(),
                  step_param(),
                  unpack_param(false),
                  labels_param("a data set in the same file"),
                  {.name = "chunk_cache_mb",
                   .type = ParamType::number,
                   .doc = "MB of decoded chunks that libhdf5 keeps for all workers together; 1 is "
                          "the default of libhdf5 and h5py",
                   .default_value = 1.0,
                   .minimum = 0,
                   .maximum = 1e6}},
       .example = R"({"path": "${cache}/train.h5", "array": "images", "labels": "labels"})",
       .make = make_hdf5_source});
}

}  // namespace cachebisect::stages
