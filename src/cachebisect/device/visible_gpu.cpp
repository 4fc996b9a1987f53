#include "cachebisect/device/visible_gpu.hpp"

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

}  // namespace cachebisect
