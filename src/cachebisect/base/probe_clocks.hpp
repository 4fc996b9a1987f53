// The two clocks of the inline probes, and the cost of reading each on this machine.
#pragma once

#include "cachebisect/base/clock.hpp"

namespace cachebisect {

/// Plain functions, so that tests can substitute virtual time. Seconds.
struct ProbeClocks {
  double (*wall)() noexcept = monotonic_seconds;
  double (*cpu)() noexcept = thread_cpu_seconds;
  double wall_cost = 0;  ///< of one reading
  double cpu_cost = 0;   ///< of one reading: far higher if it is a system call
};

/// The process's clocks with their costs, measured by 64 readings each (about 20 us).
CACHEBISECT_INTERNAL_API ProbeClocks measure_probe_clocks() noexcept;

}  // namespace cachebisect
