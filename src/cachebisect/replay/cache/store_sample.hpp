// Copies a sample into a cache.
#pragma once

#include "cachebisect/data/sample.hpp"
#include "cachebisect/replay/cache/host_arena.hpp"

namespace cachebisect {

/// `to` becomes a dense copy of `from`, whose bytes lie in `arena`. Thread safe for different `to`.
void store_sample(const Sample& from, Sample& to, HostArena& arena);

}  // namespace cachebisect
