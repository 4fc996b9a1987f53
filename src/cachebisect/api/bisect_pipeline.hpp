// The library call: bisects a pipeline with your own training step.
#pragma once

#include <functional>
#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// Makes the device that the pipeline's spec names, then replays and bisects. Throws as open_job()
/// and bisect() of a Replayer do. With the registry that the pipeline was made with,
/// BisectOptions::verify can run what-ifs that change the pipeline's spec; without it they are only
/// predicted.
CACHEBISECT_API Report bisect(const Pipeline& pipeline, std::shared_ptr<TrainStep> step,
                              const BisectOptions& options = {},
                              const Registry* registry = nullptr);
/// With a callable on the cpu; make_callback_step() makes a step for other devices.
CACHEBISECT_API Report bisect(const Pipeline& pipeline,
                              std::function<void(const DeviceBatch&)> step,
                              const BisectOptions& options = {});

}  // namespace cachebisect
