// What the tool itself costs here: a pipeline of stages that do nothing.
#pragma once

#include <stop_token>

#include "cachebisect/bisect/report.hpp"
#include "cachebisect/device/device.hpp"

namespace cachebisect {

/// Loads inside the calling thread for about `seconds`. Throws Error(interrupted) on `stop`.
ToolFloor measure_floor(Device& device, double seconds, const std::stop_token& stop);

}  // namespace cachebisect
