// What a cache in a file takes of its disk, and how lines of code say so.
#pragma once

#include <cstddef>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// The stage behind which samples are kept in a file; for jobs in code alone.
inline constexpr const char* kDiskCacheSetting = "disk_cache";
/// Stands in lines of code for the limit of such a file.
inline constexpr const char* kFileLimit = "LIMIT";

/// The limit with which cache.disk keeps so many samples, in steps of 10 MB.
[[nodiscard]] CACHEBISECT_INTERNAL_API double cache_file_limit(double bytes_per_sample,
                                                               double samples);
/// The same of a job in code, behind the stage of number `after` (from 1); 0 if the samples or
/// their bytes are unknown.
[[nodiscard]] CACHEBISECT_INTERNAL_API double cache_file_limit(const ChainDescription& chain,
                                                               std::size_t after);
/// `limit_bytes`, or most of what is free on the disk if that is less.
[[nodiscard]] CACHEBISECT_INTERNAL_API double file_limit_within(double limit_bytes,
                                                                double free_bytes) noexcept;
/// `line` with `bytes` in place of kFileLimit, unless they are 0.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string with_file_limit(std::string line, double bytes);

}  // namespace cachebisect
