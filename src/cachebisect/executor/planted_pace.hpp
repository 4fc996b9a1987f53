// The pace of the costs that are planted in the stages of one worker.
#pragma once

#include "cachebisect/base/pace.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// All that the executor does for planted costs. Used by one thread at a time.
class PlantedPace {
 public:
  /// Of an executor with so many workers; without workers, of the training thread.
  PlantedPace(const Pipeline& pipeline, const Device& device, int workers);

  void begin_run() noexcept { pace_.begin(absorbs_); }
  /// The thread was blocked outside the stages for `seconds`.
  void rested(double seconds) noexcept { pace_.rested(seconds); }
  /// For SampleContext.
  [[nodiscard]] WorkerPace* of_worker() noexcept { return &pace_; }

 private:
  bool absorbs_;  ///< see PaceTimeline::begin()
  WorkerPace pace_;
};

}  // namespace cachebisect
