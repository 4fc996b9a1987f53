// What to do when the memory of a device is full.
#pragma once

#include <string_view>

namespace cachebisect {

inline constexpr std::string_view kDeviceMemoryRemedy =
    "lower batch_size, copy.prefetch or --cache-device, or end other processes (nvidia-smi)";

}  // namespace cachebisect
