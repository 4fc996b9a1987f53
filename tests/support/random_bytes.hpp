// Bytes for tests, the same each time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cachebisect/base/random.hpp"

namespace cachebisect::test {

/// Fills `bytes` with what `random` draws, eight at once.
inline void draw_bytes(RandomStream& random, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t drawn = random.next_u64();
    const std::size_t count = std::min(bytes.size(), sizeof drawn);
    std::memcpy(bytes.data(), &drawn, count);
    bytes = bytes.subspan(count);
  }
}

}  // namespace cachebisect::test
