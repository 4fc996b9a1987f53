// Whether the device buffers of batches fit into the device's memory, before any is allocated.
#pragma once

#include <cstddef>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// Throws Error(usage) with the figures and the largest batch size that fits, unless the memory
/// that was free when the device was opened holds `copies` batches and one output of each device
/// stage. Nothing is checked if the device does not tell its free memory, or for shapes that depend
/// on the samples.
CACHEBISECT_INTERNAL_API void check_device_buffers(const Pipeline& pipeline, const Device& device,
                                                   std::size_t copies);

}  // namespace cachebisect
