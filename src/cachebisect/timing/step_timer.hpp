// A view of a training loop: the parts of every batch, by events of the device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/observe/batch_times.hpp"
#include "cachebisect/observe/loop_event.hpp"
#include "cachebisect/timing/split_batch.hpp"

namespace cachebisect {

/// On CUDA by events on its streams, on the emulated device by its timeline, on the cpu by the
/// host's clock. Events are made before the block and read once they have happened: nothing waits
/// for the device, and nothing is allocated per batch. Used by one thread.
class CACHEBISECT_INTERNAL_API StepTimer final : public LoopView {
 public:
  /// `batches`: the maximum that is kept; those beyond are not timed. `ahead`: batches that are
  /// copied before the step that is queued next.
  StepTimer(std::size_t batches, int ahead);
  ~StepTimer() override;

  void block_begun(const BlockSteps& steps, Device& device, Stream& compute) override;
  void take(const LoopEvent& event) override;
  void block_ended() override;

  /// The timed batches of all blocks, numbered from 0; those that the device has not finished are
  /// missing if a block was interrupted.
  [[nodiscard]] const std::vector<BatchTimes>& batches() const noexcept { return batches_; }

 private:
  struct Place;

  /// The place of this batch.
  Place& open(std::uint64_t batch);
  void collect(Place& place);
  [[nodiscard]] BatchMarks marks_of(const Place& place) const;

  std::size_t max_batches_;
  std::size_t places_needed_;
  std::vector<Place> places_;  ///< batch i is at i % size
  std::vector<BatchTimes> batches_;
  Device* device_ = nullptr;
  std::uint64_t warmup_ = 0;
  std::uint64_t running_ = 0;         ///< batch of the step that is being queued
  std::optional<double> former_end_;  ///< of the last step that was collected
};

}  // namespace cachebisect
