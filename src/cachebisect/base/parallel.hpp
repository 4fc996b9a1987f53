// A loop on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Calls work(i) for i in [0, count) on so many threads (0: as many as this process may use); a
/// thread takes `grain` consecutive i at a time. An exception keeps further i from being begun;
/// that of the smallest i is rethrown. Throws Error(interrupted) on `stop`.
CACHEBISECT_INTERNAL_API void parallel_for(std::uint64_t count, std::uint64_t grain,
                                           const std::stop_token& stop,
                                           const std::function<void(std::uint64_t)>& work,
                                           std::uint64_t threads = 0);

}  // namespace cachebisect
