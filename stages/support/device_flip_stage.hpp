// The device stages that flip images, given the direction.
#pragma once

#include <string>

#include "stages/support/flip_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

/// Registers a device stage that flips each image with probability p.
void add_device_flip_stage(Registry& registry, const std::string& type, const std::string& doc,
                           FlipDirection direction);

}  // namespace cachebisect::stages
