// Quantiles of distributions. All functions are pure and thread safe.
#pragma once

#include <cstddef>
#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A quantile of the standard normal distribution; `probability` in (0, 1).
CACHEBISECT_INTERNAL_API double normal_quantile(double probability) noexcept;
/// The t that |T| does not exceed with this probability, in (0, 1), at `freedom` > 0 degrees of
/// freedom of Student's distribution.
CACHEBISECT_INTERNAL_API double student_quantile(double probability, double freedom);
/// A quantile of the beta distribution; a, b > 0, `probability` in (0, 1).
CACHEBISECT_INTERNAL_API double beta_quantile(double a, double b, double probability);
/// The most heads that `coins` fair coins show at most with no more than this probability, which is
/// below 1. Empty if no heads at all are more likely than that.
CACHEBISECT_INTERNAL_API std::optional<std::size_t> heads_quantile(std::size_t coins,
                                                                   double probability);

}  // namespace cachebisect
