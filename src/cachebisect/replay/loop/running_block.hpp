// What the training loop knows of a block while it runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cachebisect/replay/loop/train_loop.hpp"

namespace cachebisect {

/// The time, and how long the training thread has waited since the block began. Seconds.
struct BlockMark {
  double clock = 0;
  double starved = 0;  ///< for the loader
  double waited = 0;   ///< for the device
};

/// The process's CPU time at a moment. Seconds.
struct CpuMark {
  double clock = 0;
  double cpu = 0;
};

/// The block that is running.
struct RunningBlock {
  BlockSteps steps;
  double began = 0;
  /// When the device was first seen to have completed the last untimed step, which may be late.
  std::optional<CpuMark> cpu_start{};
  BlockMark at_start{};  ///< when that step had been queued
  BlockTiming timing{};

  [[nodiscard]] std::uint64_t warmup() const { return static_cast<std::uint64_t>(steps.warmup); }

  /// Completes the timing once the last step has been queued, at `now`.
  void finish(const BlockMark& now) {
    timing.starved_seconds = now.starved - at_start.starved;
    const double idle = timing.starved_seconds + now.waited - at_start.waited;
    timing.trainer_seconds = std::max(0.0, now.clock - at_start.clock - idle);
    timing.padding_share /= timing.steps;
    if (timing.device_idle_share) *timing.device_idle_share /= timing.steps;
    if (timing.ready_batches) *timing.ready_batches /= timing.steps;
  }
};

}  // namespace cachebisect
