#include "cachebisect/device/cuda_environment.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/device.hpp"

namespace cachebisect {
namespace {

bool exists(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

/// CUDA stops reading the list at the first entry that is no device.
bool hidden_by_user() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return false;
  const std::string_view list = visible;
  return list.empty() || list.starts_with('-') || list == "NoDevFiles";
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Profilers announce themselves to CUDA and NVTX as a library to load.
std::string attached_profiler() {
  if (!variable("NSYS_PROFILING_SESSION_ID").empty()) return "Nsight Systems";
  if (!variable("NV_COMPUTE_PROFILER_PERFWORKS_DIR").empty()) return "Nsight Compute";
  for (const char* const name :
       {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "COMPUTE_PROFILE"}) {
    const std::string value = variable(name);
    if (value.empty() || value == "0") continue;
    const std::string file = std::filesystem::path(value).filename().string();
    return std::string(name) + "=" + file;
  }
  return "";
}

}  // namespace

bool gpu_is_visible(const std::string& root) {
  if (hidden_by_user()) return false;
  if (exists(root + "/dev/nvidiactl") || exists(root + "/proc/driver/nvidia/version")) return true;
  // WSL2 has the GPU of Windows behind /dev/dxg, and Windows' driver in a folder of its own.
  return exists(root + "/dev/dxg") && exists(root + "/usr/lib/wsl/lib/libcuda.so.1");
}

std::string gpu_problem(const std::string& root) {
  if (!gpu_is_visible(root) || cuda_device_count() > 0) return "";
  try {
    (void)make_cuda_device(0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

DeviceEnvironment read_device_environment() {
  DeviceEnvironment environment;
  environment.launch_blocking = variable("CUDA_LAUNCH_BLOCKING");
  environment.device_max_connections = variable("CUDA_DEVICE_MAX_CONNECTIONS");
  environment.visible_devices = variable("CUDA_VISIBLE_DEVICES");
  environment.profiler = attached_profiler();
  return environment;
}

}  // namespace cachebisect
