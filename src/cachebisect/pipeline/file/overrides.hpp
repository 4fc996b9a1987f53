// --set PATH=VALUE, applied to the JSON of the file before it is checked. Internal to
// pipeline/file.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/pipeline/file/context.hpp"

namespace cachebisect::spec {

/// Writes the values into `root` and records their pointers in `context`. A stage is given by its
/// name or its 0-based number. Throws Error(usage) naming the option and the nearest known name.
void apply_overrides(nlohmann::json& root, const std::vector<SpecOverride>& overrides,
                     Context& context);

}  // namespace cachebisect::spec
