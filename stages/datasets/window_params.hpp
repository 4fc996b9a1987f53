// Parameters of sources that read windows of arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

[[nodiscard]] ParamSpec window_param();
[[nodiscard]] ParamSpec step_param();
/// `labels`: the name of `where`, "a variable in the same file".
[[nodiscard]] ParamSpec labels_param(const std::string& where);
/// `unpack` of packed values.
[[nodiscard]] ParamSpec unpack_param(bool default_value);

/// As given, for WindowGrid; empty: not given.
struct WindowExtents {
  std::vector<std::int64_t> window;
  std::vector<std::int64_t> step;
};
/// Throws Error(usage) for what is no whole number, and for a step without a window.
[[nodiscard]] WindowExtents window_extents(const Params& params);

}  // namespace cachebisect::stages
