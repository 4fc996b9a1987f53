// What a cache stage holds.
#pragma once

#include <cstdint>

namespace cachebisect {

/// What a cache in memory takes for a sample at most, besides the bytes of its fields.
inline constexpr std::uint64_t kCacheSampleBytes = 144;

struct CacheUse {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  std::uint64_t limit_bytes = 0;
  bool full = false;  ///< a sample was not kept, or another one went for it
};

}  // namespace cachebisect
