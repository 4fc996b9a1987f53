// Whether this machine has an NVIDIA GPU that this process could see.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// True if the NVIDIA driver is loaded, or this is WSL2 with a GPU, and CUDA_VISIBLE_DEVICES hides
/// no device. Looks below `root`. Never throws.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool gpu_is_visible(const std::string& root = "");

/// Why no CUDA device can be used although a GPU is visible; empty if one can, or if none is
/// visible.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string gpu_problem(const std::string& root = "");

}  // namespace cachebisect
