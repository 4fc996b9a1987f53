// What the replayer tells of its device besides the blocks' times.
#pragma once

#include "cachebisect/device/device.hpp"
#include "cachebisect/device/nvml/device_monitor.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/replay/loop/copy_peak.hpp"

namespace cachebisect {

class CACHEBISECT_INTERNAL_API DeviceWatch {
 public:
  /// Measures the copy from pinned memory; on a device that refuses it, for instance for lack of
  /// memory, nothing is known of it.
  explicit DeviceWatch(Device& device);

  /// For use between blocks.
  [[nodiscard]] DeviceReading read() const { return monitor_.read(); }
  /// Adds the copy's bandwidth and what NVML knows.
  void complete(ChainDescription& chain) const;

 private:
  DeviceMonitor monitor_;
  CopyPeak copy_;
};

}  // namespace cachebisect
