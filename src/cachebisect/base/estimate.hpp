// A figure with its interval.
#pragma once

#include <optional>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect {

/// Both parts are empty if it was not measured.
struct Estimate {
  std::optional<double> value;
  std::optional<Interval> interval;
};

/// The estimate in another unit. `factor` is positive.
[[nodiscard]] inline Estimate scaled(const Estimate& estimate, double factor) {
  Estimate result;
  if (estimate.value) result.value = *estimate.value * factor;
  if (estimate.interval) {
    result.interval = Interval{estimate.interval->low * factor, estimate.interval->high * factor};
  }
  return result;
}

/// The estimate with `by` added.
[[nodiscard]] inline Estimate shifted(const Estimate& estimate, double by) {
  Estimate result;
  if (estimate.value) result.value = *estimate.value + by;
  if (estimate.interval) {
    result.interval = Interval{estimate.interval->low + by, estimate.interval->high + by};
  }
  return result;
}

}  // namespace cachebisect
