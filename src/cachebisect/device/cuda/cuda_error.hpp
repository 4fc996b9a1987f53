// Errors of the CUDA runtime as errors of ours.
#pragma once

#include <source_location>

#include <cuda_runtime_api.h>

namespace cachebisect::cuda {

/// Throws Error(device) with the call, the reason, the place and what to do, unless `status` is
/// cudaSuccess. `call` is the name of the function that returned it.
void check(cudaError_t status, const char* call,
           std::source_location where = std::source_location::current());

/// Makes `ordinal` the calling thread's device, and puts back what it was. Throws as check() does.
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
