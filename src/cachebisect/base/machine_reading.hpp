// Counters of the machine at one moment, as plain values.
#pragma once

#include <cstdint>
#include <optional>

namespace cachebisect {

/// Time that CPUs spent, in clock ticks since boot.
struct CpuTimes {
  std::uint64_t total = 0;
  std::uint64_t steal = 0;  ///< taken by the hypervisor for others
  std::uint64_t busy = 0;   ///< running something on this machine
  int cpus = 0;             ///< number of CPUs summed here; 0: not known
};

/// Empty members are counters that the system does not offer.
struct MachineReading {
  double seconds = 0;                   ///< monotonic clock
  double own_cpu_seconds = 0;           ///< of this process and of its children that have ended
  std::optional<CpuTimes> times;        ///< of the CPUs that this process may use
  double ticks_per_second = 100;        ///< unit of `times`
  std::optional<double> clock_mhz;      ///< of the fastest CPU that this process may use
  bool clock_measured = false;          ///< by the frequency driver; otherwise from /proc/cpuinfo
  std::optional<double> quota_periods;  ///< of the cgroup's CPU quota
  std::optional<double> throttled_periods;
  std::optional<double> quota_period_seconds;  ///< the longest
  std::optional<double> quota_cpus;            ///< the lowest
  std::optional<double> memory_stall_seconds;  ///< some task waited for memory
};

}  // namespace cachebisect
