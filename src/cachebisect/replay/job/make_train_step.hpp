// The training step that a pipeline's spec names.
#pragma once

#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// The step for that device; emulated devices get an emulated step. `workers` (resolved) decides
/// the default of train.threads. `registry` (may be null) has the steps of plugins. Throws
/// Error(usage).
CACHEBISECT_INTERNAL_API std::shared_ptr<TrainStep> make_train_step(const Pipeline& pipeline,
                                                                    Device& device, int workers,
                                                                    const Registry* registry);

}  // namespace cachebisect
