// How live blocks read their samples.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// `as_is`: the next samples of the epoch, as storage gives them. `warm`: the cached samples, read
/// again. `cold`: the next samples, evicted from memory before each block.
enum class IoMode { as_is, warm, cold };
/// Parses "as-is", "warm" or "cold". Throws Error(usage) for any other word.
CACHEBISECT_API IoMode io_mode_of(const std::string& name);

}  // namespace cachebisect
