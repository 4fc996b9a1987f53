// Jitter of a planted cost: factors around 1 with a mean of 1 over any 64 consecutive indices.
#pragma once

#include <array>
#include <cstdint>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Largest `cv` that a pipeline file may ask for.
inline constexpr double kMaxJitterCv = 10;

/// As a parameter: {"kind": "none"|"lognormal"|"pareto", "cv": 0.05}.
struct Jitter {
  enum class Kind { none, lognormal, pareto };
  Kind kind = Kind::none;
  double cv = 0;  ///< standard deviation over mean

  bool operator==(const Jitter&) const = default;
};

/// The distribution (mean 1) is divided into 64 cells of equal probability; a factor is the mean of
/// its cell. Index i takes cell (m i + b) mod 64, m odd and near 64 times the golden ratio's
/// fraction, m and b drawn by `stage_hash`: any 64 consecutive indices visit every cell once, so
/// their mean is exactly 1, and shorter runs are spread evenly. (Quantiles at golden-ratio points
/// miss the mean of 64 by up to 47% at cv 1, because they seldom reach the tail.) Thread safe.
class CACHEBISECT_API JitterSequence {
 public:
  static constexpr std::size_t kPeriod = 64;

  /// cv <= 0: no jitter.
  JitterSequence(const Jitter& jitter, std::uint64_t stage_hash) noexcept;
  [[nodiscard]] double factor(std::uint64_t index) const noexcept {
    return cells_[static_cast<std::size_t>((index * multiplier_ + offset_) % kPeriod)];
  }

 private:
  std::array<double, kPeriod> cells_{};
  std::uint64_t multiplier_ = 1;
  std::uint64_t offset_ = 0;
};

}  // namespace cachebisect
