// How late sleeps end here.
#pragma once

namespace cachebisect {

struct TimerLateness {
  double median_seconds = 0;
  double p99_seconds = 0;  ///< one in a hundred is later
};

/// Takes about a tenth of a second.
TimerLateness measure_timers();

}  // namespace cachebisect
