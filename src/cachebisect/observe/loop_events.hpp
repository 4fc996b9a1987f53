// Makes events of what a training loop tells its observer.
#pragma once

#include <cstdint>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/observe/loop_event.hpp"
#include "cachebisect/replay/loop/loop_observer.hpp"

namespace cachebisect {

/// Gives each event to all views, in their order. The clock is read once per event. Used by the
/// training thread.
class CACHEBISECT_INTERNAL_API LoopEvents final : public LoopObserver {
 public:
  /// The views must outlive the blocks.
  explicit LoopEvents(std::vector<LoopView*> views);

  void block_begun(const BlockSteps& steps, Device& device, Stream& compute) override;
  void wait_begun(std::uint64_t batch) override;
  void wait_ended(std::uint64_t batch, bool starved) override;
  void copy_begun(std::uint64_t batch, Stream& stream) override;
  void copy_ended(std::uint64_t batch, Stream& stream) override;
  void step_begun(std::uint64_t batch, std::int64_t samples) override;
  void part_ended(StepPart part) override;
  void step_ended(std::uint64_t batch) override;
  void device_wait_begun() override;
  void device_wait_ended() override;
  void block_ended() override;

 private:
  void give(LoopEvent event);

  std::vector<LoopView*> views_;
  Stream* compute_ = nullptr;
  std::uint64_t running_ = 0;  ///< batch of the latest step
};

}  // namespace cachebisect
