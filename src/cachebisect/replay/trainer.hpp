// Everything that trains on one pipeline: its executor, its training loop, its place in the epochs.
#pragma once

#include <map>
#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// The training steps that share a process: weights are kept once per step, and settings of the
/// process belong to the step that runs. Not thread safe.
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

/// Neither copied nor moved: its parts refer to one another. One thread at a time.
struct Trainer {
  /// `workers` is resolved; `from` is the order of `chain`; `steps` keeps the step's weights.
  /// Throws as check_device() and check_expectations() do.
  Trainer(Pipeline chain, std::shared_ptr<Device> on, std::shared_ptr<TrainStep> trained,
          int workers, LiveOrder from, TrainedSteps& steps);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  [[nodiscard]] std::size_t last_boundary() const { return pipeline.stages().size(); }

  Pipeline pipeline;
  std::shared_ptr<Device> device;
  std::shared_ptr<TrainStep> step;
  TrainLoop loop;
  ExecutorOptions loader_options;
  Executor loader;
  LiveOrder order;
  bool restores_weights;  ///< the step can
};

}  // namespace cachebisect
