// LibTorch's CUDA backend, through interfaces that need no CUDA headers and no link to
// libtorch_cuda.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include "cachebisect/device/device.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::torch_module {

/// LibTorch's device for a request. For CUDA, opens libtorch_cuda.so, whose initialisers register
/// the backend. Throws Error(device) that says what was found. LibTorch looks for its backends only
/// once: a process that trains on the CPU and on CUDA must create the CUDA step first.
c10::Device open_device(const ModelStepRequest& request);

/// LibTorch's view of our stream; null is the device's default stream.
c10::Stream as_torch_stream(const c10::Device& device, const Stream* stream);

/// Versions of LibTorch and, on a CUDA device, of its cuDNN.
StepLibraries library_versions(const c10::Device& device);

}  // namespace cachebisect::torch_module
