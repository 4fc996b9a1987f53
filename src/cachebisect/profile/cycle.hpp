// One cycle of a profile as it was recorded, for the trace and what is found in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/load_recorder.hpp"
#include "cachebisect/profile/loop_recorder.hpp"
#include "cachebisect/profile/spans.hpp"

namespace cachebisect::profile {

/// Seconds of the monotonic clock. Batches are numbered within the cycle, untimed ones included.
struct Cycle {
  double begin = 0;
  double end = 0;
  std::int64_t clock_offset = 0;  ///< system clock minus monotonic clock, in nanoseconds
  std::uint64_t first_batch = 0;  ///< of those that are profiled
  std::uint64_t first_step = 0;   ///< its number over all cycles
  std::vector<LoopSpan> loop;
  std::vector<std::vector<LoadSpan>> workers;
  std::vector<pid_t> worker_threads;  ///< their ids in the system
  std::vector<DeviceSpan> device;
  std::string step_trace;  ///< of the step's library; empty if it was not profiled
};

/// Nanoseconds of the system clock.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::int64_t system_time(const Cycle& cycle,
                                                                double monotonic_seconds) noexcept;
/// Seconds of the monotonic clock.
[[nodiscard]] double monotonic_time(const Cycle& cycle, std::int64_t system_nanoseconds) noexcept;

/// Copies what was recorded of the block that has just ended. `workers` may be null.
[[nodiscard]] Cycle cycle_of(const LoopRecorder& loop, const LoadRecorder* workers);

/// Batches that were ready in the ring.
struct ReadyCount {
  double seconds = 0;
  std::int64_t batches = 0;
};
/// After each change within the cycle; empty without workers.
[[nodiscard]] std::vector<ReadyCount> ready_batches(const Cycle& cycle);

}  // namespace cachebisect::profile
