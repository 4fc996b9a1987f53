// Bandwidths of this machine: of memory, on one core and on all, and to the device.
#pragma once

#include <optional>
#include <stop_token>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/device/device.hpp"

namespace cachebisect {

/// GB/s read plus written by memcpy on `threads` threads at once; the best of several passes over
/// buffers larger than the caches. Throws Error(interrupted) on `stop`.
double memory_gb_per_s(int threads, const MachineInfo& machine, const std::stop_token& stop);

/// GB/s from pinned host memory, the best of several copies of 64 MiB; the device's own figure if
/// it does not copy. Throws Error(device) if the device fails.
std::optional<double> copy_gb_per_s(Device& device, const std::stop_token& stop);

}  // namespace cachebisect
