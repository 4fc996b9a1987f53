// What disturbs a measurement from outside, by readings before, during and after it: stolen time,
// other load, clock changes, an exhausted CPU quota, scarce memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine.hpp"

namespace cachebisect {

/// Counters of one moment; what the system does not tell is none.
struct MachineReading {
  double seconds = 0;                   ///< monotonic clock
  double own_cpu_seconds = 0;           ///< of this process and of its children that have ended
  std::optional<CpuTimes> times;        ///< of the CPUs that this process may use
  double ticks_per_second = 100;        ///< of `times`
  std::optional<double> clock_mhz;      ///< of the fastest CPU that this process may use
  bool clock_measured = false;          ///< by the frequency driver; else as /proc/cpuinfo has it
  std::optional<double> quota_periods;  ///< of the cgroup's CPU quota
  std::optional<double> throttled_periods;
  std::optional<double> memory_stall_seconds;  ///< some task waited for memory
};

/// Reads /proc and /sys below `root`; takes well under a millisecond. Never throws for odd
/// contents. Thread safe.
CACHEBISECT_API MachineReading read_machine(const std::string& root = "",
                                            const std::vector<int>& cpus = allowed_cpus());

/// What went on between the first reading and the last.
struct Disturbance {
  std::optional<double> steal_share;       ///< of the CPU time
  std::optional<double> other_load;        ///< mean CPUs busy with other processes
  std::optional<double> frequency_change;  ///< (high - low) / high of the clock, without the rarest
                                           ///< tenth of the readings at either end
  std::optional<double> throttled_share;   ///< of the quota's periods, in which it ran out
  std::optional<double> memory_stall_share;  ///< of the time
};

/// Not thread safe.
class CACHEBISECT_API MachineWatch {
 public:
  void add(const MachineReading& reading);
  /// All none before the second reading.
  [[nodiscard]] Disturbance seen() const;

 private:
  std::optional<MachineReading> first_;
  MachineReading last_;
  std::vector<double> clocks_;
};

}  // namespace cachebisect
