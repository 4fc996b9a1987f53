// The parts of the JSON report about the device.
#pragma once

#include "cachebisect/format/json_values.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/protocol/device_reading.hpp"

namespace cachebisect {

[[nodiscard]] json_values::Json device_json(const ChainDescription& chain);

/// Null if nothing is known.
[[nodiscard]] json_values::Json device_reading_json(const DeviceReading& reading);

}  // namespace cachebisect
