// The stages that flip an image, given the direction.
#pragma once

#include <string>

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

enum class FlipDirection { left_right, top_bottom };

/// Registers a sample stage that flips with probability p.
void add_flip_stage(Registry& registry, const std::string& type, const std::string& doc,
                    FlipDirection direction);

}  // namespace cachebisect::stages
