// The library call: bisect a pipeline with a training step of one's own.
#pragma once

#include <functional>
#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// Makes the device that the pipeline's spec names, replays and bisects. Throws as bisect() and
/// make_device() do. With the registry that the pipeline was made with, BisectOptions::verify can
/// run what-ifs that change the pipeline's spec; without it they are predicted only.
CACHEBISECT_API Report bisect(const Pipeline& pipeline, std::shared_ptr<TrainStep> step,
                              const BisectOptions& options = {},
                              const Registry* registry = nullptr);
CACHEBISECT_API Report bisect(const Pipeline& pipeline,
                              std::function<void(const DeviceBatch&)> step,
                              const BisectOptions& options = {});

}  // namespace cachebisect
