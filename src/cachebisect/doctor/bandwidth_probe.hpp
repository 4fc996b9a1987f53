// How fast bytes move here: through memory, on one core and on all, and to the device.
#pragma once

#include <optional>
#include <stop_token>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/device/device.hpp"

namespace cachebisect {

/// GB/s read plus written by memcpy on so many threads at once; the best of several passes over
/// buffers beyond the caches. Throws Error(interrupted) on `stop`.
double memory_gb_per_s(int threads, const MachineInfo& machine, const std::stop_token& stop);

/// GB/s from pinned host memory, 64 MiB at a time, the best of several; what the device says of
/// itself where it does not copy. Throws Error(device) when the device fails.
std::optional<double> copy_gb_per_s(Device& device, const std::stop_token& stop);

}  // namespace cachebisect
