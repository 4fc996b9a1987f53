// The training steps that share a process: weights are kept once per step, and settings of the
// process belong to the step that runs.
#pragma once

#include <map>
#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_INTERNAL_API TrainedSteps {
 public:
  TrainedSteps() = default;
  /// Restores the settings of the process.
  ~TrainedSteps();
  TrainedSteps(const TrainedSteps&) = delete;
  TrainedSteps& operator=(const TrainedSteps&) = delete;

  /// Keeps the weights of the step, which runs on `device`, unless they have been kept before:
  /// pipelines may share a step. False if it cannot restore them.
  bool keep(const std::shared_ptr<TrainStep>& step, const std::shared_ptr<Device>& device);
  /// Restores the weights of every step that can.
  void restore_weights();
  /// The step runs next: the one that ran before restores what it changed in the process.
  void use(TrainStep& step);

 private:
  struct Kept {
    std::shared_ptr<Device> device;
    std::shared_ptr<TrainStep> step;
    bool restores = false;
  };
  std::map<TrainStep*, Kept> kept_;
  TrainStep* used_ = nullptr;  ///< one of kept_
};

}  // namespace cachebisect
