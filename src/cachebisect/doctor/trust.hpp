// Which drops can be certified with the noise of a machine: applies the bisector's own evidence to
// measured differences of equal blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct TrustOptions {
  double block_seconds = 0.05;  ///< of one block, including warm-up
  int boundaries = 8;           ///< per round: a chain of seven stages
  double budget_seconds = 60;
  double confidence = 0.99;
  double min_drop = 0.05;
};

struct Trust {
  /// Distinguished from no drop within the budget, 9 times in 10; empty: not even 60% is.
  std::optional<double> smallest_drop;
  /// Median time to certify that a drop of 20% is above min_drop; empty: more than ten budgets.
  std::optional<double> seconds_for_a_fifth;
};

/// Fewer differences than this say too little about a machine.
inline constexpr std::size_t kMinDifferences = 8;

/// `differences`: log ratios of the times of two equal blocks; with fewer than kMinDifferences
/// nothing is trusted. Deterministic: resamples the differences in a fixed sequence with random
/// signs, because the order within a round is random.
CACHEBISECT_INTERNAL_API Trust trust_in(std::span<const double> differences,
                                        const TrustOptions& options);

}  // namespace cachebisect
