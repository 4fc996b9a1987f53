#include "cachebisect/doctor/timer_probe.hpp"

#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect {

TimerLateness measure_timers() {
  constexpr int kSleeps = 400;
  constexpr double kSleepSeconds = 200e-6;
  std::vector<double> late;
  late.reserve(kSleeps);
  for (int i = 0; i < kSleeps; ++i) {
    const double deadline = monotonic_seconds() + kSleepSeconds;
    sleep_until(deadline);
    late.push_back(monotonic_seconds() - deadline);
  }
  return {.median_seconds = median(late), .p99_seconds = quantile(late, 0.99)};
}

}  // namespace cachebisect
