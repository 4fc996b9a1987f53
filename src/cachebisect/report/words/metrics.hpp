// The figures of a report by name, for monitoring systems.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct MetricLabel {
  std::string_view name;
  std::string value;
};

/// A known figure: its estimate has a value that is finite.
struct MetricReading {
  std::vector<MetricLabel> labels;  ///< besides the pipeline, which all have
  Estimate estimate;
};

struct Metric {
  std::string_view name;  ///< snake_case, ends in the unit where there is one
  std::string_view help;  ///< one line
  std::vector<MetricReading> (*read)(const Report& report);
};

/// All metrics. A new one is one more row in metrics.cpp, and one in docs/use/dashboards.md.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::span<const Metric> report_metrics() noexcept;

}  // namespace cachebisect
