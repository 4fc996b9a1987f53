// What the environment of this process says about CUDA devices: whether one could be seen, and what
// changes them.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/device_facts.hpp"

namespace cachebisect {

/// True if the NVIDIA driver is loaded, or this is WSL2 with a GPU, and CUDA_VISIBLE_DEVICES hides
/// no device. Looks below `root`. Never throws.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool gpu_is_visible(const std::string& root = "");

/// Why no CUDA device can be used although a GPU is visible; empty if one can, or if none is
/// visible.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string gpu_problem(const std::string& root = "");

/// From environment variables alone; so a profiler is seen if it was attached when the process
/// started.
[[nodiscard]] CACHEBISECT_INTERNAL_API DeviceEnvironment read_device_environment();

}  // namespace cachebisect
