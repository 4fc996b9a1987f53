// The one stream of events of a training loop; times of batches and profiles are views of it.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/train/step_parts.hpp"

namespace cachebisect {

struct BlockSteps;

/// In the order of a batch; LoopObserver says what may come between. A step that does not tell its
/// parts ends none.
enum class LoopMoment : std::uint8_t {
  wait_begun,
  wait_ended,
  copy_begun,
  copy_ended,
  step_begun,
  part_ended,
  step_ended,
  device_wait_begun,
  device_wait_ended
};

struct LoopEvent {
  LoopMoment moment = LoopMoment::wait_begun;
  std::uint64_t batch = 0;   ///< in the block; of device_wait: that of the latest step
  double seconds = 0;        ///< of the monotonic clock, when the training thread was there
  Stream* stream = nullptr;  ///< on which the device gets there; null: it has no part in it
  std::int64_t samples = 0;  ///< in the batch; known from step_begun alone
  StepPart part = StepPart::forward;  ///< that has ended, of part_ended alone
  bool starved = false;               ///< true only for wait_ended: the batch was not ready
};

/// What is made of the events. It is called by the training thread, and keeps LoopObserver's rules:
/// it may record events of the device; it must not wait, throw, or allocate per batch.
class CACHEBISECT_INTERNAL_API LoopView {
 public:
  virtual ~LoopView();
  virtual void block_begun(const BlockSteps& steps, Device& device, Stream& compute) = 0;
  virtual void take(const LoopEvent& event) = 0;
  /// The device has done all steps of the block. Not called if the block ended in an error.
  virtual void block_ended() = 0;
};

}  // namespace cachebisect
