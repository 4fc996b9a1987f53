// Measures how late sleeps end on this machine.
#pragma once

namespace cachebisect {

struct TimerLateness {
  double median_seconds = 0;
  double p99_seconds = 0;  ///< 99th percentile
};

/// Takes about a tenth of a second.
TimerLateness measure_timers();

}  // namespace cachebisect
