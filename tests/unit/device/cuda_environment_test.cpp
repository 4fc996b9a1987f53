#include "cachebisect/device/cuda_environment.hpp"

#include <cstdlib>
#include <optional>
#include <string>

#include "support/fake_root.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/device/device.hpp"

using namespace cachebisect;

namespace {

/// A variable of the environment with another value until the test ends; null: not set.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr)
      ::setenv(name_, value, 1);
    else
      ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a GPU is visible by the driver's files, or by those of WSL2") {
  const Variable all("CUDA_VISIBLE_DEVICES", nullptr);
  test::FakeRoot root;
  CHECK_FALSE(gpu_is_visible(root.path()));
  root.write("/dev/dxg", "");
  CHECK_FALSE(gpu_is_visible(root.path()));  // WSL2, and no driver of NVIDIA
  root.write("/usr/lib/wsl/lib/libcuda.so.1", "");
  CHECK(gpu_is_visible(root.path()));
  test::FakeRoot linux_root;
  linux_root.write("/proc/driver/nvidia/version", "NVRM version");
  CHECK(gpu_is_visible(linux_root.path()));
  for (const char* const hiding : {"", "-1", "NoDevFiles"}) {
    const Variable hidden("CUDA_VISIBLE_DEVICES", hiding);
    CHECK_FALSE(gpu_is_visible(linux_root.path()));
  }
  const Variable second("CUDA_VISIBLE_DEVICES", "1");
  CHECK(gpu_is_visible(linux_root.path()));
}

TEST_CASE("a visible GPU that cannot be used comes with the reason") {
  const Variable all("CUDA_VISIBLE_DEVICES", nullptr);
  test::FakeRoot root;
  CHECK(gpu_problem(root.path()).empty());
  if (cuda_device_count() > 0) return test::skip("the absence of a GPU");
  root.write("/dev/nvidiactl", "");
  CHECK(test::has(gpu_problem(root.path()), "CUDA"));
}

TEST_CASE("the environment of a device is told as it is set") {
  const Variable blocking("CUDA_LAUNCH_BLOCKING", "1");
  const Variable connections("CUDA_DEVICE_MAX_CONNECTIONS", nullptr);
  const Variable session("NSYS_PROFILING_SESSION_ID", nullptr);
  const Variable compute("NV_COMPUTE_PROFILER_PERFWORKS_DIR", nullptr);
  const Variable ranges("NVTX_INJECTION64_PATH", nullptr);
  {
    const Variable injection("CUDA_INJECTION64_PATH", "/opt/tool/libinject.so");
    CHECK(read_device_environment().launch_blocking == "1");
    CHECK(read_device_environment().device_max_connections.empty());
    CHECK(read_device_environment().profiler == "CUDA_INJECTION64_PATH=libinject.so");
  }
  const Variable injection("CUDA_INJECTION64_PATH", nullptr);
  CHECK(read_device_environment().profiler.empty());
  const Variable nsys("NSYS_PROFILING_SESSION_ID", "17");
  CHECK(read_device_environment().profiler == "Nsight Systems");
}
