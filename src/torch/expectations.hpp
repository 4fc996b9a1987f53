// What a model requires of its batches, checked before LibTorch does any work.
#pragma once

#include <string>
#include <vector>

#include "network.hpp"

#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// "model lenet", "module net.pt".
std::string title_of(const TrainSpec& train);

/// The field of this name in what arrives. Throws Error(usage) that lists the existing fields.
const FieldSpec& arriving(const ModelStepRequest& request, const std::string& name);

/// The fields that the model of `request` needs, given its input. Throws Error(usage) that names
/// the field, what arrives, what is needed and the stage to add. An image in the layout NHWC fits
/// if train.memory_format is channels_last.
std::vector<ExpectedField> expected_fields(const ModelStepRequest& request,
                                           const ImageInput& input);

/// The fields that the module of `request` gets, of the dtypes that arrive.
std::vector<ExpectedField> module_fields(const ModelStepRequest& request);

}  // namespace cachebisect::torch_module
