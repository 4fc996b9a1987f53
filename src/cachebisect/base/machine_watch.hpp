// Disturbances of a measurement from outside, by readings before, during and after it: stolen time,
// other load, clock changes, an exhausted CPU quota, scarce memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/machine_reading.hpp"

namespace cachebisect {

/// Reads /proc and /sys below `root` in well under a millisecond. Never throws for malformed
/// contents. Thread safe.
CACHEBISECT_INTERNAL_API MachineReading read_machine(const std::string& root = "",
                                                     const std::vector<int>& cpus = allowed_cpus());

/// The clock of the fastest CPU by the frequency driver, in MHz; empty without such a driver, as in
/// most virtual machines. Thread safe.
CACHEBISECT_INTERNAL_API std::optional<double> read_clock_mhz(
    const std::string& root = "", const std::vector<int>& cpus = allowed_cpus());

/// What changed between the first reading and the last.
struct Disturbance {
  std::optional<double> steal_share;         ///< of the CPU time
  std::optional<double> other_load;          ///< mean CPUs busy with other processes
  std::optional<double> frequency_change;    ///< (high - low) / high of the clock, without the
                                             ///< highest and the lowest tenth of the readings
  std::optional<double> throttled_share;     ///< of the quota's periods: those in which it ran out
  std::optional<double> memory_stall_share;  ///< of the time
};

/// Not thread safe.
class CACHEBISECT_INTERNAL_API MachineWatch {
 public:
  void add(const MachineReading& reading);
  /// All members are empty before the second reading.
  [[nodiscard]] Disturbance seen() const;

 private:
  std::optional<MachineReading> first_;
  MachineReading last_;
  std::vector<double> clocks_;
};

}  // namespace cachebisect
