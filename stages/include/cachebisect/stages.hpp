// The built-in stages: registration for pipeline files.
#pragma once

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

/// Adds every built-in stage to the registry.
CACHEBISECT_API void register_all(Registry& registry);

}  // namespace cachebisect::stages
