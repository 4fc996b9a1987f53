// The parameters `window` and `step` of sources that read windows of arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

[[nodiscard]] ParamSpec window_param();
[[nodiscard]] ParamSpec step_param();

/// As given, for WindowGrid; empty: not given.
struct WindowExtents {
  std::vector<std::int64_t> window;
  std::vector<std::int64_t> step;
};
/// Throws Error(usage) for what is no whole number, and for a step without a window.
[[nodiscard]] WindowExtents window_extents(const Params& params);

}  // namespace cachebisect::stages
