#include "cachebisect/observe/slowdown.hpp"

#include <cmath>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect {

Estimate slowdown_of(std::span<const double> log_ratios) {
  constexpr double kConfidence = 0.95;
  Estimate share;
  if (log_ratios.empty()) return share;
  share.value = std::expm1(mean(log_ratios));
  if (const auto interval = mean_interval(log_ratios, kConfidence)) {
    share.interval = Interval{std::expm1(interval->low), std::expm1(interval->high)};
  }
  return share;
}

}  // namespace cachebisect
