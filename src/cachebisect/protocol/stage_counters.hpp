// What the inline probes measured of one stage.
#pragma once

#include <cstdint>

namespace cachebisect {

/// Sums over the samples that the stage processed. Seconds are those of the thread that ran it.
struct StageCounters {
  std::uint64_t samples = 0;
  double busy_seconds = 0;  ///< wall time, waiting included
  double cpu_seconds = 0;
  /// Inside a section that all workers of the pipeline enter one at a time, without the wait for
  /// it.
  double serial_seconds = 0;
  double slot_write_seconds = 0;  ///< writing samples into batch slots
  std::uint64_t slot_writes = 0;  ///< samples counted in slot_write_seconds

  StageCounters& operator+=(const StageCounters& other) noexcept {
    samples += other.samples;
    busy_seconds += other.busy_seconds;
    cpu_seconds += other.cpu_seconds;
    serial_seconds += other.serial_seconds;
    slot_write_seconds += other.slot_write_seconds;
    slot_writes += other.slot_writes;
    return *this;
  }
};

}  // namespace cachebisect
