// Memory from CUDA: on the device, and page-locked on the host.
#pragma once

#include <memory>

#include "cachebisect/data/memory.hpp"

namespace cachebisect::cuda {

[[nodiscard]] std::shared_ptr<MemoryResource> make_device_memory(int ordinal);
[[nodiscard]] std::shared_ptr<MemoryResource> make_pinned_memory(int ordinal);

}  // namespace cachebisect::cuda
