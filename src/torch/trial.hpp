// Whether a model from a file takes what the chain gives, before anything runs.
#pragma once

#include "batch_tensors.hpp"
#include "loss.hpp"
#include "model.hpp"
#include <c10/core/Device.h>

#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// A file does not say what it takes: runs forward pass and loss on zeros like a batch of the
/// chain, and restores the buffers. With memory_format channels_last, returns which order of the
/// images the model takes. Shapes that are only known at run time are not tried; a model that does
/// not train must have others. Throws
/// Error(usage) that says what the chain gives, what the model makes of it, and the remedy.
ImageOrder try_batch(Model& model, const Loss& loss, const ModelStepRequest& request,
                     const c10::Device& device);

}  // namespace cachebisect::torch_module
