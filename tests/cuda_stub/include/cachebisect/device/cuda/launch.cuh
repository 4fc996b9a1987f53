// The launch of a kernel on the virtual device: a function that loops over threads on the host.
// Found instead of the product's header of this name.
#pragma once

#include <cstdint>

#include "cuda_stub/enqueue.hpp"
#include <cuda_runtime_api.h>

#define __global__
#define __device__

/// Kernels of the virtual device run in one thread.
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  const unsigned long long before = *to;
  *to += value;
  return before;
}

inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }

namespace cachebisect::cuda::kernels {

/// Few, so that every thread makes several turns of its grid-stride loop.
inline constexpr std::int64_t kHostThreads = 3;
inline thread_local std::int64_t host_thread = 0;

inline std::int64_t first_element() { return host_thread; }
inline std::int64_t element_step() { return kHostThreads; }

inline std::int64_t timer_nanoseconds() { return cuda_stub::timer_nanoseconds(); }

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), std::int64_t /*count*/, cudaStream_t stream,
                   Arguments... arguments) {
  return cuda_stub::enqueue(stream, [=] {
    // No order of threads is promised.
    for (host_thread = kHostThreads - 1; host_thread >= 0; --host_thread) kernel(arguments...);
  });
}

}  // namespace cachebisect::cuda::kernels
