// How fast the device takes bytes from pinned memory, and its link while it does.
#pragma once

#include <optional>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/nvml/device_monitor.hpp"

namespace cachebisect {

struct CopyPeak {
  std::optional<double> gb_per_s;  ///< empty if the device does not copy or lacks memory
  DeviceReading during;            ///< read while a copy was queued
};

/// The best of several copies of 64 MiB; the configured bandwidth of a device without data. Leaves
/// no memory behind, and measures nothing where 192 MiB are not free. Throws Error(device) if the
/// device fails, and Error(interrupted) on `stop`.
[[nodiscard]] CACHEBISECT_INTERNAL_API CopyPeak measure_copy_peak(Device& device,
                                                                  const DeviceMonitor& monitor,
                                                                  const std::stop_token& stop);

}  // namespace cachebisect
