// LibTorch's CUDA side, through interfaces that need no CUDA header and no link to libtorch_cuda.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include "cachebisect/device/device.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// LibTorch's device for a request; for CUDA, opens libtorch_cuda.so, whose initialisers register
/// the backend. Throws Error(device) with what was found. LibTorch searches for its backends once:
/// a process that trains on both must make the CUDA step first.
c10::Device open_device(const ModelStepRequest& request);

/// LibTorch's view of our stream; null is the device's default stream.
c10::Stream as_torch_stream(const c10::Device& device, const Stream* stream);

}  // namespace cachebisect::torch_module
