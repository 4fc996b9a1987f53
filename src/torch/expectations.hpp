// What a model requires of its batches, checked before LibTorch does any work.
#pragma once

#include <vector>

#include "network.hpp"

#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// The fields that the model of `request` needs, given its input. Throws Error(usage) that names
/// the field, what arrives, what is needed and the stage to add.
std::vector<ExpectedField> expected_fields(const ModelStepRequest& request,
                                           const ImageInput& input);

}  // namespace cachebisect::torch_module
