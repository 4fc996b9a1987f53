// Counter-based random numbers: a draw depends on the key alone, never on the thread or the time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// FNV-1a of a name; the part of a random key that tells stages apart.
CACHEBISECT_API std::uint64_t hash_name(std::string_view name) noexcept;

/// What a stream of random numbers is keyed by.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  std::uint64_t stage = 0;  ///< hash_name of the stage's name
};

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
/// Equal keys give equal streams on every machine. Not thread safe: one stream per sample.
class CACHEBISECT_API RandomStream {
 public:
  explicit RandomStream(const RandomKey& key) noexcept;

  std::uint32_t next_u32() noexcept;
  std::uint64_t next_u64() noexcept;
  /// Uniform in [0, 1), 53 bits.
  double uniform() noexcept;
  /// Uniform in [low, high).
  double uniform(double low, double high) noexcept;
  /// Uniform integer in [0, bound); bound > 0. Unbiased (Lemire 2019).
  std::uint64_t below(std::uint64_t bound) noexcept;
  /// Standard normal (Box-Muller).
  double normal() noexcept;

 private:
  void refill() noexcept;

  std::array<std::uint32_t, 2> key_{};
  std::array<std::uint32_t, 4> counter_{};
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace cachebisect
