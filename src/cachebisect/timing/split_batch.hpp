// Divides the time of one batch into its parts.
#pragma once

#include <array>
#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/observe/batch_times.hpp"
#include "cachebisect/train/step_parts.hpp"

namespace cachebisect {

/// When things happened on the device, in seconds on any clock.
struct BatchMarks {
  double former_end = 0;  ///< of the step before
  double step_begin = 0;
  double step_end = 0;
  std::optional<Interval> copy{};  ///< on whatever stream
  double wait_seconds = 0;         ///< of the training thread, for the loader
  std::array<std::optional<double>, kStepParts> part_ends{};  ///< by StepPart
};

/// A batch lasts from the end of the step before to the end of its own. What precedes its step is
/// divided into the copy, as far as it lies there, then the wait for the loader, as far as there is
/// room for it, and other: device stages and the loop itself. A step that told no part is `step`
/// as a whole; what follows its last part is other.
[[nodiscard]] CACHEBISECT_INTERNAL_API BatchTimes split_batch(const BatchMarks& marks);

}  // namespace cachebisect
