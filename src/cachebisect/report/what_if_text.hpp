// The what-ifs of a report as a table: predicted next to measured.
#pragma once

#include <string>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/report/text_layout.hpp"

namespace cachebisect {

/// Empty if no what-if was asked.
[[nodiscard]] std::string what_if_table(const Report& report, const TextPaint& paint, int columns);

/// "gains 3,050 samples/s (predicted), 2,980 samples/s (measured)"; empty if neither is known.
[[nodiscard]] std::string remedy_gain(const Remedy& remedy);

}  // namespace cachebisect
