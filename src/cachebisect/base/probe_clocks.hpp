// The two clocks of inline observation, and what a reading of each costs here.
#pragma once

#include "cachebisect/base/clock.hpp"

namespace cachebisect {

/// Plain functions, so that tests can put virtual time in their place. Seconds.
struct ProbeClocks {
  double (*wall)() noexcept = monotonic_seconds;
  double (*cpu)() noexcept = thread_cpu_seconds;
  double wall_cost = 0;  ///< of one reading
  double cpu_cost = 0;   ///< of one reading: where it is a system call, far more
};

/// The process's clocks, read some dozen times each to learn what that takes (some 20 us).
CACHEBISECT_API ProbeClocks measure_probe_clocks() noexcept;

}  // namespace cachebisect
