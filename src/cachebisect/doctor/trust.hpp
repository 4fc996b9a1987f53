// What drops the noise of a machine leaves certifiable: the bisector's own evidence, fed with
// differences of equal blocks that were measured here.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct TrustOptions {
  double block_seconds = 0.05;  ///< of one block, warm-up and all
  int boundaries = 8;           ///< that a round visits: a chain of seven stages
  double budget_seconds = 60;
  double confidence = 0.99;
  double min_drop = 0.05;
};

struct Trust {
  std::optional<double> smallest_drop;  ///< told from none within the budget, 9 times in 10; none:
                                        ///< not even 60%
  std::optional<double> seconds_for_a_fifth;  ///< to certify 20% above min_drop, median; none: not
                                              ///< within ten budgets
};

/// Fewer differences than this say too little of a machine.
inline constexpr std::size_t kLeastDifferences = 8;

/// `differences`: log ratios of the times of two equal blocks, at least kLeastDifferences, else
/// nothing is trusted. Deterministic: the differences are drawn from again and again in a fixed
/// order, with signs at random, as order within a round is.
CACHEBISECT_API Trust trust_in(std::span<const double> differences, const TrustOptions& options);

}  // namespace cachebisect
