// What a relay answers for its machine and all ranks on it when it is asked for `machine`
// (docs/extend/protocol.md).
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_reading.hpp"

namespace cachebisect {

/// The CPU seconds in the answers of ranks. One that does not tell them counts as 0.
[[nodiscard]] CACHEBISECT_INTERNAL_API double own_cpu_seconds_of(
    const std::vector<nlohmann::json>& answers);
/// The fields of the answer.
[[nodiscard]] CACHEBISECT_INTERNAL_API nlohmann::json counters_json(const MachineReading& counters);
/// Empty if the relay does not tell. Throws Error(internal) that names the field that is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<MachineReading> read_counters(
    const nlohmann::json& answer);

}  // namespace cachebisect
