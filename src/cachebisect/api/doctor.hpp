// What this machine is good for: its cores and memory, how steady it is, and what the tool itself
// costs here.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/bisect/report.hpp"
#include "cachebisect/device/device.hpp"

namespace cachebisect {

struct Diagnosis {
  MachineInfo machine;
  DeviceInfo device;
  std::optional<double>
      copy_gb_per_s;  ///< pinned host to device, 64 MiB; none where the device does not copy
  double memory_gb_per_s = 0;             ///< one core's memcpy, bytes read plus bytes written
  Noise noise;                            ///< of equal 5 ms pieces of work on one core
  std::optional<double> detectable_drop;  ///< what 15 rounds certify at this noise
  ToolFloor floor;                        ///< a pipeline of stages that do nothing, inline
};

/// Measures for about `seconds`. Throws Error(interrupted) on `stop`, Error(device) when the device
/// fails.
CACHEBISECT_API Diagnosis diagnose(Device& device, double seconds, const std::stop_token& stop);
/// The diagnosis in words, at most 80 columns: what drops can be trusted on this machine.
CACHEBISECT_API std::string to_text(const Diagnosis& diagnosis);

}  // namespace cachebisect
