// Fast random numbers for generated pixels.
#pragma once

#include <cstdint>

namespace cachebisect::stages {

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class SmallRandom {
 public:
  /// Different pairs (seed, stream) give independent numbers, well enough for images.
  constexpr SmallRandom(std::uint64_t seed, std::uint64_t stream) noexcept
      : state_(seed * 0xD1342543DE82EF95ULL ^ stream * 0x9E3779B97F4A7C15ULL) {
    next();
    state_ ^= next();
  }

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }
  /// Uniform integer in [low, high], from the high half of a product (bias below 2^-32).
  constexpr int between(int low, int high) noexcept {
    const auto range = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<int>((next() >> 32) * range >> 32);
  }
  /// Uniform in [0, 1).
  constexpr float unit() noexcept { return static_cast<float>(next() >> 40) * 0x1.0p-24F; }

 private:
  std::uint64_t state_;
};

}  // namespace cachebisect::stages
