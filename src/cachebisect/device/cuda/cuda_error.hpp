// Turns errors of the CUDA runtime into Error.
#pragma once

#include <cuda_runtime_api.h>

namespace cachebisect::cuda {

/// Throws Error(device) with the call, the reason, the location and a remedy, unless `status` is
/// cudaSuccess. `call` is the function that returned it; the location is the caller's.
void check(cudaError_t status, const char* call, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

/// Makes `ordinal` the calling thread's device, for good: the runtime takes a context on a device
/// as soon as a thread makes it its own, so no other one is made the thread's in between. Throws as
/// check() does.
void use_device(int ordinal);
/// The same for destructors: an error is left to the call that follows.
void try_use_device(int ordinal) noexcept;

}  // namespace cachebisect::cuda
