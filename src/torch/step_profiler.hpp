// LibTorch's own profiler (Kineto).
#pragma once

#include <memory>

#include "cachebisect/train/step_profiler.hpp"

namespace cachebisect::torch_module {

/// `cuda`: also records what the GPU does, by CUPTI. One at a time in a process.
std::unique_ptr<StepProfiler> make_step_profiler(const StepProfilerOptions& options, bool cuda);

}  // namespace cachebisect::torch_module
