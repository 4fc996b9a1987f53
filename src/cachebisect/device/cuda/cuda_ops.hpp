// The device operations as CUDA kernels.
#pragma once

#include <memory>

#include "cachebisect/device/device_ops.hpp"

namespace cachebisect::cuda {

[[nodiscard]] std::unique_ptr<DeviceOps> make_ops(int ordinal);

}  // namespace cachebisect::cuda
