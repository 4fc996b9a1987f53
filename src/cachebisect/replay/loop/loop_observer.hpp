// Told what the training loop does, batch by batch: for timing and profiling.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/train/step_parts.hpp"

namespace cachebisect {

struct BlockSteps;

/// All calls come from the training thread, between block_begun() and block_ended(). Batches are
/// numbered from 0 within a block; those below BlockSteps::warmup are untimed. The order of a batch
/// is: wait, copy, step, with its parts within the step; but the copy of a batch, and the wait that
/// precedes it, may come before earlier steps (`copy.prefetch`). An observer may record events on
/// the streams that it is given; it must not wait for the device, throw, or allocate per batch.
/// Without an observer each of these places costs the loop one branch.
class CACHEBISECT_INTERNAL_API LoopObserver : public StepPartObserver {
 public:
  ~LoopObserver() override;

  /// `compute`: the stream of steps and device stages.
  virtual void block_begun(const BlockSteps& /*steps*/, Device& /*device*/, Stream& /*compute*/) {}
  /// The training thread asks the loader for a batch, and loads it itself if there are no workers.
  virtual void wait_begun(std::uint64_t /*batch*/) {}
  /// It has the batch. `starved`: the batch was not ready when it asked. Batches that are copied
  /// ahead are ready, and come without a wait.
  virtual void wait_ended(std::uint64_t /*batch*/, bool /*starved*/) {}
  /// Before and after the copy is queued on `stream`, which may be the compute stream. A blocking
  /// copy is done at copy_ended(). A device that reads host memory itself has no copies.
  virtual void copy_begun(std::uint64_t /*batch*/, Stream& /*stream*/) {}
  virtual void copy_ended(std::uint64_t /*batch*/, Stream& /*stream*/) {}
  /// Before the step is queued on the compute stream, after the copy has been awaited there and the
  /// device stages have been queued. `samples`: in the batch.
  virtual void step_begun(std::uint64_t /*batch*/, std::int64_t /*samples*/) {}
  /// Between step_begun() and step_ended(), if the step tells its parts.
  void part_ended(StepPart /*part*/) override {}
  /// The step has been queued.
  virtual void step_ended(std::uint64_t /*batch*/) {}
  /// The training thread waits until the device has room for a further step, or for the step
  /// itself (`train.sync_every`).
  virtual void device_wait_begun() {}
  virtual void device_wait_ended() {}
  /// The device has done all steps of the block. Not called if the block ended in an error.
  virtual void block_ended() {}
};

}  // namespace cachebisect
