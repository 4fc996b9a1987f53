// A cache on disk of what is read from servers: the parameters of sources, and its file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachebisect/objects/byte_cache.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

struct ObjectCacheOptions {
  std::string folder;  ///< holds objects.sqlite; made if it is missing
  std::uint64_t limit_bytes = 0;
};

/// And the parameters `cache` and `cache_limit_gb`.
[[nodiscard]] std::vector<ParamSpec> with_object_cache(std::vector<ParamSpec> params);
/// An empty folder: there is no cache. Throws Error(usage).
[[nodiscard]] ObjectCacheOptions object_cache_options(const Params& params);

/// What earlier runs left makes room for what this one reads, which stays: each epoch asks for
/// every sample once. A file that is damaged is emptied. Throws Error(usage) if the folder cannot
/// be used, lies on a network file system, holds something else, or this build has no SQLite.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::shared_ptr<ByteCache> open_object_cache(
    const ObjectCacheOptions& options);

}  // namespace cachebisect::stages
