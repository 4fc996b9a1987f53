// The parts of a JSON report, read. Internal to report/.
#pragma once

#include <array>
#include <string_view>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/report/json/report_value.hpp"

namespace cachebisect::read_parts {

inline constexpr std::array kVerdictKinds{VerdictKind::anomaly, VerdictKind::drop,
                                          VerdictKind::spread, VerdictKind::flat,
                                          VerdictKind::inconclusive};

/// Throws Error(usage) unless the member "schema_version" is the one that is written now.
void check_schema_version(const ReportValue& document);
[[nodiscard]] DeviceKind device_kind(const ReportValue& value);

/// A figure with its interval: {KEY, "interval"}.
[[nodiscard]] Estimate estimate(const ReportValue& value, std::string_view key);
/// {"samples_per_second", "interval"}.
[[nodiscard]] Estimate rate(const ReportValue& value);
/// A figure and its interval next to it: "drop", "drop_interval".
[[nodiscard]] Estimate figure(const ReportValue& parent, std::string_view key,
                              std::string_view interval);

[[nodiscard]] MachineReport machine(const ReportValue& value);
/// The device and pipeline parts; stages and seed are left empty.
[[nodiscard]] ChainDescription chain(const ReportValue& device, const ReportValue& value);
[[nodiscard]] BoundaryReport boundary(const ReportValue& value);
[[nodiscard]] StageReport stage(const ReportValue& value);
/// `stages` of the chain.
[[nodiscard]] SpanReport span(const ReportValue& value, int stages);
[[nodiscard]] Remedy remedy(const ReportValue& value);
[[nodiscard]] WhatIfResult what_if(const ReportValue& value);
[[nodiscard]] StepFunction step_function(const ReportValue& value);
[[nodiscard]] Warning warning(const ReportValue& value);
/// `stages` of the chain.
[[nodiscard]] BlockRecord block(const ReportValue& value, int stages);

}  // namespace cachebisect::read_parts
