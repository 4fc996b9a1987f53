// What one GPU does by itself, by NVML: clocks, power, throttling, the PCIe link.
#pragma once

#include <memory>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/nvml/nvml_library.hpp"
#include "cachebisect/protocol/device_facts.hpp"
#include "cachebisect/protocol/device_reading.hpp"

namespace cachebisect {

/// Finds the device by its address, so neither the order of CUDA_VISIBLE_DEVICES nor
/// CUDA_DEVICE_ORDER matters. Thread safe. Never throws.
class CACHEBISECT_INTERNAL_API DeviceMonitor {
 public:
  /// The device with this PCI bus id, else the one with this UUID; either may be empty. Without
  /// both, without NVML and for a device that NVML does not know, all that it reads is empty.
  DeviceMonitor(const std::string& pci_bus_id, const std::string& uuid,
                const std::string& library = nvml::kFile);

  /// Why nothing can be read; empty if something can, or if no device was asked for.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// A few calls of the driver, each of some microseconds to a few milliseconds: for use outside
  /// timed regions.
  [[nodiscard]] DeviceReading read() const;
  /// Adds what NVML knows to `facts`.
  void complete(DeviceFacts& facts) const;

 private:
  std::unique_ptr<nvml::Library> library_;  ///< null if no device was asked for
  nvml::Handle device_ = nullptr;           ///< null if there is none
  std::string problem_;
};

}  // namespace cachebisect
