// The parts of a training step, and who is told when one ends.
#pragma once

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// In the order in which they run. `forward` includes the loss, `backward` that the gradients are
/// cleared, `optimizer` the scaler of mixed precision.
enum class StepPart { forward, backward, optimizer };
inline constexpr int kStepParts = 3;
CACHEBISECT_API const char* to_string(StepPart part) noexcept;

/// Told of the parts of each step. Called by the thread that runs the step.
class CACHEBISECT_API StepPartObserver {
 public:
  virtual ~StepPartObserver();
  /// The work of `part` has been queued on the step's stream. A part lasts from the end of the one
  /// before it, or from the beginning of the step. A step that ran out of memory and is tried once
  /// more tells its parts once more.
  virtual void part_ended(StepPart part) = 0;
};

}  // namespace cachebisect
