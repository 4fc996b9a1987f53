// Checksums of device memory, computed on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cachebisect/data/memory.hpp"
#include "cachebisect/data/tensor_view.hpp"
#include "cachebisect/device/cuda/cuda_handles.hpp"

namespace cachebisect::cuda {

/// One per tensor, of its bytes and their places, after all work queued on `stream`; waits for it.
/// The tensors are dense. `memory` is the device's; the calling thread must use the device.
[[nodiscard]] std::vector<std::uint64_t> checksums(std::span<const ConstTensorView> tensors,
                                                   const std::shared_ptr<MemoryResource>& memory,
                                                   Stream& stream);

}  // namespace cachebisect::cuda
