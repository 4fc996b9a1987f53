// The only launch of kernels. Tests that have no GPU replace this header by one that runs kernels
// as loops on the host.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace cachebisect::cuda::kernels {

constexpr int kThreads = 256;

/// Enough blocks for `count` elements in a grid-stride loop.
inline unsigned blocks_for(std::int64_t count) {
  constexpr std::int64_t kMaxBlocks = 1 << 20;
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

/// The grid-stride loop of a thread: begin, and distance to the next element.
__device__ inline std::int64_t first_element() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t element_step() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

/// The device's own timer, which advances in steps of up to a microsecond.
__device__ inline std::int64_t timer_nanoseconds() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return static_cast<std::int64_t>(now);
}

/// Queues `kernel`, a grid-stride loop over `count` elements, on `stream`.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), std::int64_t count, cudaStream_t stream,
                   Arguments... arguments) {
  kernel<<<blocks_for(count), kThreads, 0, stream>>>(arguments...);
  return cudaGetLastError();
}

}  // namespace cachebisect::cuda::kernels
