#include "cachebisect/device/nvml/device_monitor.hpp"

#include <optional>

namespace cachebisect {
namespace {

using nvml::Functions;
using nvml::Handle;
using nvml::kSuccess;

// Values of nvml.h.
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr unsigned long long kSoftwarePowerCap = 0x4;
constexpr unsigned long long kHardwareSlowdown = 0x8;  // heat or power; the next ones tell which
constexpr unsigned long long kSoftwareThermal = 0x20;
constexpr unsigned long long kHardwareThermal = 0x40;
constexpr unsigned long long kPowerBrake = 0x80;
/// NVML's answer if the link is unknown, as in some virtual machines.
constexpr unsigned kUnknown = 0xFFFFFFFF;

std::optional<unsigned> number(Functions::GetNumber get, Handle device) {
  unsigned value = 0;
  if (get == nullptr || get(device, &value) != kSuccess || value == kUnknown) return std::nullopt;
  return value;
}

/// 0 is no generation, no width and no clock.
std::optional<int> positive(Functions::GetNumber get, Handle device) {
  const auto value = number(get, device);
  return value && *value > 0 ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<double> clock(const Functions& functions, Handle device, int kind) {
  unsigned mhz = 0;
  if (functions.clock == nullptr || functions.clock(device, kind, &mhz) != kSuccess || mhz == 0) {
    return std::nullopt;
  }
  return mhz;
}

std::optional<Throttling> throttling(const Functions& functions, Handle device) {
  unsigned long long reasons = 0;
  if (functions.throttle_reasons == nullptr ||
      functions.throttle_reasons(device, &reasons) != kSuccess) {
    return std::nullopt;
  }
  Throttling found;
  found.power = (reasons & (kSoftwarePowerCap | kPowerBrake)) != 0;
  found.thermal = (reasons & (kSoftwareThermal | kHardwareThermal)) != 0;
  // Alone on drivers that do not tell which of the two it is; heat is the usual one.
  if ((reasons & kHardwareSlowdown) != 0 && !found.any()) found.thermal = true;
  return found;
}

std::optional<bool> mig_mode(const Functions& functions, Handle device) {
  unsigned current = 0;
  unsigned pending = 0;
  if (functions.mig_mode == nullptr || functions.mig_mode(device, &current, &pending) != kSuccess) {
    return std::nullopt;
  }
  return current != 0;
}

}  // namespace

DeviceMonitor::DeviceMonitor(const std::string& pci_bus_id, const std::string& uuid,
                             const std::string& library) {
  if (pci_bus_id.empty() && uuid.empty()) return;
  library_ = std::make_unique<nvml::Library>(library);
  problem_ = library_->problem();
  if (!problem_.empty()) return;
  const auto find = [this](Functions::FindDevice get, const std::string& name) {
    if (device_ != nullptr || get == nullptr || name.empty()) return;
    if (get(name.c_str(), &device_) != kSuccess) device_ = nullptr;
  };
  find(library_->functions().device_by_bus_id, pci_bus_id);
  find(library_->functions().device_by_uuid, uuid);
  if (device_ == nullptr) {
    problem_ = "NVML knows no device " + (pci_bus_id.empty() ? uuid : pci_bus_id);
  }
}

DeviceReading DeviceMonitor::read() const {
  DeviceReading reading;
  if (device_ == nullptr) return reading;
  const Functions& f = library_->functions();
  reading.throttling = throttling(f, device_);
  reading.sm_clock_mhz = clock(f, device_, kSmClock);
  reading.memory_clock_mhz = clock(f, device_, kMemoryClock);
  if (const auto milliwatts = number(f.power, device_)) reading.power_watts = 1e-3 * *milliwatts;
  nvml::Utilization utilization;
  if (f.utilization != nullptr && f.utilization(device_, &utilization) == kSuccess) {
    reading.utilization = 1e-2 * utilization.gpu;
  }
  reading.pcie_generation = positive(f.pcie_generation, device_);
  reading.pcie_width = positive(f.pcie_width, device_);
  return reading;
}

void DeviceMonitor::complete(DeviceFacts& facts) const {
  if (library_ == nullptr || !library_->usable()) return;
  if (const auto version = library_->driver_version(); !version.empty()) {
    facts.driver_version = version;
  }
  if (const auto version = library_->cuda_version(); !version.empty()) {
    facts.cuda_driver_version = version;
  }
  if (device_ == nullptr) return;
  const Functions& f = library_->functions();
  facts.max_pcie_generation = positive(f.max_pcie_generation, device_);
  facts.max_pcie_width = positive(f.max_pcie_width, device_);
  if (const auto mode = number(f.persistence_mode, device_)) facts.persistence_mode = *mode != 0;
  facts.mig_mode = mig_mode(f, device_);
}

}  // namespace cachebisect
