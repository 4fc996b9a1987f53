#include "cachebisect/device/device_environment.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cachebisect {
namespace {

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

DeviceEnvironment read_device_environment() {
  DeviceEnvironment environment;
  environment.launch_blocking = variable("CUDA_LAUNCH_BLOCKING");
  environment.device_max_connections = variable("CUDA_DEVICE_MAX_CONNECTIONS");
  environment.visible_devices = variable("CUDA_VISIBLE_DEVICES");
  environment.profiler = attached_profiler();
  return environment;
}

}  // namespace cachebisect
