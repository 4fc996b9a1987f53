// What an accelerator does by itself, at one moment: clocks, power, throttling, its link to the
// host.
#pragma once

#include <optional>

namespace cachebisect {

/// Why the device runs below the clock that it could reach. Limits set by the user do not count.
struct Throttling {
  bool thermal = false;
  bool power = false;

  [[nodiscard]] bool any() const noexcept { return thermal || power; }
};

/// Empty members are unknown.
struct DeviceReading {
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_watts;
  std::optional<double> utilization;   ///< share of the driver's last sampling period with kernels
  std::optional<int> pcie_generation;  ///< in use now: an idle device may lower it
  std::optional<int> pcie_width;
  std::optional<Throttling> throttling;

  [[nodiscard]] bool throttled() const noexcept { return throttling && throttling->any(); }
};

}  // namespace cachebisect
