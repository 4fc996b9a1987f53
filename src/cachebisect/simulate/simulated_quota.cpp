#include "cachebisect/simulate/simulated_quota.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect {

void QuotaClock::enter(double period) {
  if (period <= period_) return;
  period_ = period;
  used_ = 0;
}

double QuotaClock::run(double start, double seconds, double cpu_seconds) {
  if (quota_.cpus <= 0 || seconds <= 0 || cpu_seconds <= 0) return seconds;
  const double pace = cpu_seconds / seconds;
  const double budget = quota_.cpus * quota_.period_seconds;
  enter(std::floor(start / quota_.period_seconds));
  double now = start;
  while (seconds > 0) {
    const double edge = (period_ + 1) * quota_.period_seconds;
    const double lasts = std::max(0.0, budget - used_) / pace;
    const double until_edge = edge - now;
    const double runs = std::min({seconds, lasts, until_edge});
    seconds -= runs;
    now += runs;
    used_ += pace * runs;
    if (seconds <= 0) break;
    if (lasts < until_edge) ++throttled_;
    now = edge;
    enter(period_ + 1);
  }
  return now - start;
}

}  // namespace cachebisect
