// Whether the settings of a step fit each other and its device.
#pragma once

#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// Returns `request`. Throws Error(usage) that names the setting and the remedy; needs no LibTorch.
const ModelStepRequest& checked(const ModelStepRequest& request);

/// For a model that does not train: a compiled forward pass has its arithmetic in it. Throws
/// Error(usage).
void check_forward_alone(const TrainSpec& train);

}  // namespace cachebisect::torch_module
