#include "stages/support/object_cache.hpp"

#include <cmath>

#include "stages/support/disk_store.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {
namespace {

constexpr double kBytesPerLimitGb = 1e9;

}  // namespace

std::vector<ParamSpec> with_object_cache(std::vector<ParamSpec> params) {
  params.push_back({.name = "cache",
                    .type = ParamType::path,
                    .doc =
                        "folder of a local disk that keeps what is read from a server, for later "
                        "epochs and later runs; made if it is missing",
                    .optional = true});
  params.push_back({.name = "cache_limit_gb",
                    .type = ParamType::number,
                    .doc = "what `cache` may take, in GB of 10^9 bytes; 0.017 or more",
                    .default_value = 20.0,
                    .minimum = 0,
                    .maximum = 1e6,
                    .exclusive_minimum = true});
  return params;
}

ObjectCacheOptions object_cache_options(const Params& params) {
  if (!params.has("cache")) return {};
  const double bytes = kBytesPerLimitGb * params.number("cache_limit_gb");
  if (bytes < static_cast<double>(kLeastDiskLimit)) {
    throw Error(ErrorKind::usage,
                "cache_limit_gb is " + format_bytes(bytes) + "; it must be 0.017 or more");
  }
  if (is_remote_path(params.string("cache"))) {
    throw Error(ErrorKind::usage, "\"cache\" must be a folder of a local disk, not an address");
  }
  return {.folder = params.string("cache"),
          .limit_bytes = static_cast<std::uint64_t>(std::llround(bytes))};
}

#ifndef CACHEBISECT_WITH_SQLITE
std::shared_ptr<ByteCache> open_object_cache(const ObjectCacheOptions& /*options*/) {
  throw Error(ErrorKind::usage,
              "this build has no SQLite; build with CACHEBISECT_WITH_SQLITE=ON, or leave out "
              "\"cache\"");
}
#endif

}  // namespace cachebisect::stages
