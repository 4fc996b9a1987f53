// Statistics that hold without a model of the noise: medians, order statistics, exact binomial
// intervals. All functions are pure and thread safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct Interval {
  double low = 0;
  double high = 0;
};

/// Arithmetic mean; 0 for no values.
CACHEBISECT_API double mean(std::span<const double> values) noexcept;
/// Sample standard deviation (n - 1); 0 for fewer than two values.
CACHEBISECT_API double standard_deviation(std::span<const double> values) noexcept;
/// Standard deviation over mean; 0 where the mean is 0.
CACHEBISECT_API double coefficient_of_variation(std::span<const double> values) noexcept;
/// Quantile by linear interpolation of order statistics (type 7 of Hyndman and Fan 1996).
/// `probability` in [0, 1]. Throws Error(internal) for no values.
CACHEBISECT_API double quantile(std::span<const double> values, double probability);
/// The middle value, or the mean of the two middle ones. Throws Error(internal) for no values.
CACHEBISECT_API double median(std::span<const double> values);
/// The narrowest symmetric pair of order statistics that holds the median of a continuous
/// distribution with at least `confidence`, whatever its form (David and Nagaraja, "Order
/// Statistics", 7.1). None when there are too few values (below 8 at 0.99).
CACHEBISECT_API std::optional<Interval> median_interval(std::span<const double> values,
                                                        double confidence);
/// Clopper-Pearson interval of a probability: exact, never too narrow.
CACHEBISECT_API Interval clopper_pearson(std::size_t successes, std::size_t trials,
                                         double confidence);
/// Regularised incomplete beta function I_x(a, b) by Lentz's continued fraction; a, b > 0.
CACHEBISECT_API double incomplete_beta(double a, double b, double x) noexcept;
/// Quantile of the standard normal distribution; probability in (0, 1).
CACHEBISECT_API double normal_quantile(double probability) noexcept;

}  // namespace cachebisect
