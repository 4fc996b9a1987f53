// Work of a test on the virtual device.
#pragma once

#include <cstdint>
#include <functional>

#include <cuda_runtime_api.h>

namespace cuda_stub {

/// Queues `work` as a kernel: it runs when the virtual device gets to it, in whichever thread waits
/// then, and may access device memory. It must not call the CUDA runtime.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

/// The device's timer. Only for running work, which takes as long as its readings show: each of
/// them advances the timer by a microsecond.
std::int64_t timer_nanoseconds();

}  // namespace cuda_stub
