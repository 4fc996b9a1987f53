#include "cachebisect/device/cuda/cuda_error.hpp"

#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cuda {
namespace {

const char* remedy(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "lower batch_size or --cache-device, or free memory that others hold (nvidia-smi)";
    case cudaErrorInsufficientDriver:
      return "install an NVIDIA driver, or a newer one, or use --device cpu or --device emulated";
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
      return "see nvidia-smi -L and CUDA_VISIBLE_DEVICES for the devices there are";
    case cudaErrorNoKernelImageForDevice:
      return "build again with this device's architecture in CMAKE_CUDA_ARCHITECTURES";
    case cudaErrorDevicesUnavailable:
      return "another process may hold the device exclusively (nvidia-smi)";
    default:
      return "run again with CUDA_LAUNCH_BLOCKING=1, else an earlier call may be the one that "
             "failed; compute-sanitizer shows where, nvidia-smi the state of the device";
  }
}

std::string place(const std::string& file, int line) {
  return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(line);
}

}  // namespace

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // else a later call would report it again
  throw Error(ErrorKind::device, std::string("CUDA: ") + call + " failed with " +
                                     cudaGetErrorName(status) + " (" + cudaGetErrorString(status) +
                                     ") at " + place(file, line) + "; " + remedy(status));
}

void use_device(int ordinal) {
  int present = 0;
  check(cudaGetDevice(&present), "cudaGetDevice");
  if (present != ordinal) check(cudaSetDevice(ordinal), "cudaSetDevice");
}

void try_use_device(int ordinal) noexcept {
  int present = 0;
  if (cudaGetDevice(&present) == cudaSuccess && present == ordinal) return;
  (void)cudaSetDevice(ordinal);
}

}  // namespace cachebisect::cuda
