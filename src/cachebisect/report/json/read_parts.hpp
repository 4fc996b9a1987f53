// The parts of a JSON report, read. Internal to report/.
#pragma once

#include <array>
#include <string_view>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/json_value.hpp"

namespace cachebisect::read_parts {

inline constexpr std::array kVerdictKinds{VerdictKind::anomaly, VerdictKind::drop,
                                          VerdictKind::spread, VerdictKind::flat,
                                          VerdictKind::inconclusive};

/// Throws Error(usage) unless the member "schema_version" is the one that is written now.
void check_schema_version(const JsonValue& document);
[[nodiscard]] DeviceKind device_kind(const JsonValue& value);

/// A figure with its interval: {KEY, "interval"}.
[[nodiscard]] Estimate estimate(const JsonValue& value, std::string_view key);
/// {"samples_per_second", "interval"}.
[[nodiscard]] Estimate rate(const JsonValue& value);
/// A figure and its interval next to it: "drop", "drop_interval".
[[nodiscard]] Estimate figure(const JsonValue& parent, std::string_view key,
                              std::string_view interval);

[[nodiscard]] MachineReport machine(const JsonValue& value);
/// The device and pipeline parts; stages and seed are left empty.
[[nodiscard]] ChainDescription chain(const JsonValue& device, const JsonValue& value);
[[nodiscard]] BoundaryReport boundary(const JsonValue& value);
[[nodiscard]] StageReport stage(const JsonValue& value);
/// `stages` of the chain.
[[nodiscard]] SpanReport span(const JsonValue& value, int stages);
[[nodiscard]] Remedy remedy(const JsonValue& value);
[[nodiscard]] WhatIfResult what_if(const JsonValue& value);
[[nodiscard]] StepFunction step_function(const JsonValue& value);
[[nodiscard]] Warning warning(const JsonValue& value);
/// `stages` of the chain.
[[nodiscard]] BlockRecord block(const JsonValue& value, int stages);

}  // namespace cachebisect::read_parts
