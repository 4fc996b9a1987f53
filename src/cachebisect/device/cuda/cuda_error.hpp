// Turns errors of the CUDA runtime into Error.
#pragma once

#include <cuda_runtime_api.h>

namespace cachebisect::cuda {

/// Throws Error(device) with the call, the reason, the location and a remedy, unless `status` is
/// cudaSuccess. `call` is the function that returned it; the location is the caller's.
void check(cudaError_t status, const char* call, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

/// Makes `ordinal` the calling thread's device, and restores the former one. Throws as check()
/// does.
class DeviceGuard {
 public:
  explicit DeviceGuard(int ordinal);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace cachebisect::cuda
