// What a cache stage holds.
#pragma once

#include <cstdint>

namespace cachebisect {

struct CacheUse {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  std::uint64_t limit_bytes = 0;
  bool full = false;  ///< a sample was not kept, or another one went for it
};

}  // namespace cachebisect
