// What a model needs of the batches that reach it, checked before LibTorch does any work.
#pragma once

#include <vector>

#include "network.hpp"

#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// The fields that the model of `request` needs, given what arrives. Throws Error(usage) that names
/// field, what arrives, what is needed and the stage that would bring it.
std::vector<ExpectedField> expected_fields(const ModelStepRequest& request,
                                           const ImageInput& input);

}  // namespace cachebisect::torch_module
