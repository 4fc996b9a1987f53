// What the two stages that mirror an image share: all but the direction.
#pragma once

#include <string>

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

enum class Mirror { left_right, top_bottom };

/// Registers a sample stage that mirrors with probability p.
void add_flip_stage(Registry& registry, const std::string& type, const std::string& doc,
                    Mirror mirror);

}  // namespace cachebisect::stages
