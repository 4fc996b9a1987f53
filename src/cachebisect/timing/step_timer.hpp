// Times the parts of every batch of the training loop, by events of the device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/replay/loop/loop_observer.hpp"
#include "cachebisect/timing/split_batch.hpp"
#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect {

/// On CUDA by events on its streams, on the emulated device by its timeline, on the cpu by the
/// host's clock. Events are made before the block and read once they have happened: nothing waits
/// for the device, and nothing is allocated per batch. Used by one thread.
class CACHEBISECT_INTERNAL_API StepTimer final : public LoopObserver {
 public:
  /// `batches`: the maximum that is kept; those beyond are not timed. `ahead`: batches that are
  /// copied before the step that is queued next.
  StepTimer(std::size_t batches, int ahead);
  ~StepTimer() override;

  void block_begun(const BlockSteps& steps, Device& device, Stream& compute) override;
  void wait_begun(std::uint64_t batch) override;
  void wait_ended(std::uint64_t batch, bool starved) override;
  void copy_begun(std::uint64_t batch, Stream& stream) override;
  void copy_ended(std::uint64_t batch, Stream& stream) override;
  void step_begun(std::uint64_t batch, std::int64_t samples) override;
  void part_ended(StepPart part) override;
  void step_ended(std::uint64_t batch) override;
  void block_ended() override;

  /// The timed batches of all blocks, numbered from 0; those that the device has not finished are
  /// missing if a block was interrupted.
  [[nodiscard]] const std::vector<BatchTimes>& batches() const noexcept { return batches_; }

 private:
  struct Place;

  Place& open(std::uint64_t batch);
  void collect(Place& place);
  [[nodiscard]] BatchMarks marks_of(const Place& place) const;

  std::size_t max_batches_;
  std::size_t places_needed_;
  std::vector<Place> places_;  ///< batch i is at i % size
  std::vector<BatchTimes> batches_;
  Device* device_ = nullptr;
  Stream* compute_ = nullptr;
  bool host_clock_ = true;  ///< events happen on the host's clock
  std::uint64_t warmup_ = 0;
  std::uint64_t running_ = 0;         ///< batch of the step that is being queued
  std::optional<double> former_end_;  ///< of the last step that was collected
};

}  // namespace cachebisect
