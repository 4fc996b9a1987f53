// The device that a pipeline's spec names.
#pragma once

#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline_spec.hpp"

namespace cachebisect {

/// "auto" is CUDA if there is such a device, else the cpu; "emulated" takes `spec.emulate`. Throws
/// Error(usage) for an unknown name and Error(device) saying what was found.
CACHEBISECT_INTERNAL_API std::shared_ptr<Device> make_device(const PipelineSpec& spec);

}  // namespace cachebisect
