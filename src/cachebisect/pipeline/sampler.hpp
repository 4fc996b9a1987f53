// The order of an epoch as a permutation function, never a list.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/sample.hpp"

namespace cachebisect {

/// Position p of epoch e -> sample index. A keyed bijection of [0, size): a Feistel network on the
/// next power of four, walked until it lands inside (Black and Rogaway, "Ciphers with arbitrary
/// finite domains", 2002). Without shuffle: the position itself. Thread safe, O(1) memory.
class CACHEBISECT_INTERNAL_API Sampler {
 public:
  Sampler(std::uint64_t size, std::uint64_t seed, bool shuffle) noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// `position` < size().
  [[nodiscard]] SampleIndex index(std::uint64_t epoch, std::uint64_t position) const noexcept;
  /// The sample that replaces a damaged one at `position`: P(position + attempt * stride), with a
  /// stride of about 0.618 size() and coprime to it. size() > 0.
  [[nodiscard]] SampleIndex replacement(std::uint64_t epoch, std::uint64_t position,
                                        unsigned attempt) const noexcept;

 private:
  std::uint64_t size_;
  std::uint64_t seed_;
  bool shuffle_;
  std::uint64_t stride_;
  unsigned half_bits_ = 1;
};

}  // namespace cachebisect
