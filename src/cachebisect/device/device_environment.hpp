// What the environment of this process changes about CUDA devices.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/device_facts.hpp"

namespace cachebisect {

/// From environment variables alone; so a profiler is seen if it was attached when the process
/// started.
[[nodiscard]] CACHEBISECT_INTERNAL_API DeviceEnvironment read_device_environment();

}  // namespace cachebisect
