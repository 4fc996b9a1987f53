// Everything that trains on one pipeline: its executor, its training loop, its place in the epochs.
#pragma once

#include <memory>

#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"
#include "cachebisect/replay/trained_steps.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

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
