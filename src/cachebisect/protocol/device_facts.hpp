// The software below a device, how the device is attached, and what the environment changes.
#pragma once

#include <optional>
#include <string>

namespace cachebisect {

/// What the environment changes about a CUDA device. Empty: not set.
struct DeviceEnvironment {
  std::string launch_blocking;         ///< CUDA_LAUNCH_BLOCKING
  std::string device_max_connections;  ///< CUDA_DEVICE_MAX_CONNECTIONS
  std::string visible_devices;         ///< CUDA_VISIBLE_DEVICES
  std::string profiler;                ///< that is attached to the process
};

/// Empty members are unknown.
struct DeviceFacts {
  std::string driver_version;        ///< "580.65.06"
  std::string cuda_driver_version;   ///< the newest CUDA that the driver serves: "13.0"
  std::string cuda_runtime_version;  ///< "13.0"
  std::string libtorch_version;
  std::string cudnn_version;
  std::string compute_capability;  ///< "9.0"
  std::string pci_bus_id;          ///< "0000:3b:00.0"
  std::string uuid;                ///< "GPU-..."
  std::optional<int> pcie_generation;
  std::optional<int> pcie_width;
  std::optional<int> max_pcie_generation;  ///< of device and slot together
  std::optional<int> max_pcie_width;
  std::optional<bool> persistence_mode;
  std::optional<bool> mig_mode;
  std::optional<DeviceEnvironment> environment;
};

}  // namespace cachebisect
