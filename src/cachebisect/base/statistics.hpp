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
/// Standard deviation over mean; 0 if the mean is 0.
CACHEBISECT_API double coefficient_of_variation(std::span<const double> values) noexcept;
/// Quantile by linear interpolation of order statistics (type 7 of Hyndman and Fan 1996).
/// `probability` in [0, 1]. Throws Error(internal) for no values.
CACHEBISECT_API double quantile(std::span<const double> values, double probability);
/// The middle value, or the mean of the two middle ones. Throws Error(internal) for no values.
CACHEBISECT_API double median(std::span<const double> values);
/// The narrowest symmetric pair of order statistics that covers the median of any continuous
/// distribution with at least `confidence` (David and Nagaraja, "Order Statistics", 7.1). Empty if
/// there are too few values (below 8 at 0.99).
CACHEBISECT_API std::optional<Interval> median_interval(std::span<const double> values,
                                                        double confidence);
/// Student's interval of the mean of normal values; empty below two of them.
CACHEBISECT_API std::optional<Interval> mean_interval(std::span<const double> values,
                                                      double confidence);
/// median_interval(), or mean_interval() for too few values: of the typical value.
CACHEBISECT_API std::optional<Interval> typical_interval(std::span<const double> values,
                                                         double confidence);
/// Clopper-Pearson interval of a probability: exact, never too narrow.
CACHEBISECT_API Interval clopper_pearson(std::size_t successes, std::size_t trials,
                                         double confidence);

/// Median absolute deviation from the median; 0 for a single value. Throws Error(internal) for no
/// values.
CACHEBISECT_API double median_deviation(std::span<const double> values);
/// Standard deviation of a normal distribution over its median absolute deviation (Hampel 1974).
inline constexpr double kSigmaOverMedianDeviation = 1.4826;
/// Median of the means of all pairs (Hodges and Lehmann 1963): as robust as needed here, and closer
/// to the centre than the median. Of long series every k-th value is used. Throws Error(internal)
/// for no values.
CACHEBISECT_API double hodges_lehmann(std::span<const double> values);

/// The slope of equidistant values, per step.
struct Slope {
  double value = 0;
  Interval interval;
};
/// The median slope of all pairs (Theil 1950, Sen 1968), with the interval by Kendall's rank
/// statistic (Hollander and Wolfe, "Nonparametric Statistical Methods", 9.3); no single outlier
/// moves it. Needs at least two values.
CACHEBISECT_API Slope theil_sen(std::span<const double> values, double confidence);

}  // namespace cachebisect
