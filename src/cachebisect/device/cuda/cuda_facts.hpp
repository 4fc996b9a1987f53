// What the CUDA runtime tells about versions and about the identity of a device.
#pragma once

#include <cuda_runtime_api.h>

#include "cachebisect/protocol/device_facts.hpp"

namespace cachebisect::cuda {

/// Empty members are those that the runtime does not tell. Never throws for them.
[[nodiscard]] DeviceFacts read_facts(int ordinal, const cudaDeviceProp& properties);

/// "13.0" of 13000.
[[nodiscard]] std::string version_text(int version);

}  // namespace cachebisect::cuda
