#include "cachebisect/device/cuda/kernels.hpp"
#include "cachebisect/device/cuda/launch.cuh"

namespace cachebisect::cuda::kernels {
namespace {

__global__ void spin_kernel(std::int64_t nanoseconds) {
  for (std::int64_t i = first_element(); i < 1; i += element_step()) {
    const std::int64_t start = timer_nanoseconds();
    while (timer_nanoseconds() - start < nanoseconds) {
    }
  }
}

}  // namespace

cudaError_t spin(std::int64_t nanoseconds, cudaStream_t stream) {
  return launch(spin_kernel, 1, stream, nanoseconds);
}

}  // namespace cachebisect::cuda::kernels
