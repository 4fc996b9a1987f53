// The device operations on host memory, in the calling thread.
#pragma once

#include <memory>

#include "cachebisect/device/device_ops.hpp"

namespace cachebisect {

/// Done when the call returns; the stream is ignored. Stateless, thread safe.
[[nodiscard]] std::unique_ptr<DeviceOps> make_host_ops();

}  // namespace cachebisect
