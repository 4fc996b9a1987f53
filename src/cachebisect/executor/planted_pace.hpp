// The pace of the costs that are planted in stages.
#pragma once

#include "cachebisect/base/pace.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// All that the executor does for planted costs.
class PlantedPace {
 public:
  /// `workers`: threads of the executor; without any, the training thread loads.
  PlantedPace(const Pipeline& pipeline, const Device& device, int workers);

  /// For a thread that begins a run.
  [[nodiscard]] WorkerPace begun() const noexcept;

 private:
  bool absorbs_;  ///< see PaceTimeline::begin()
};

}  // namespace cachebisect
