// How many cases a test with random input tries.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace cachebisect::test {

/// `count`, times CACHEBISECT_FUZZ_FACTOR if that is set (scripts/nightly).
inline std::uint64_t fuzz_cases(std::uint64_t count) {
  const char* const factor = std::getenv("CACHEBISECT_FUZZ_FACTOR");
  return count * (factor == nullptr ? 1 : std::strtoull(factor, nullptr, 10));
}

}  // namespace cachebisect::test
