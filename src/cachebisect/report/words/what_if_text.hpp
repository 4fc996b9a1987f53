// The what-ifs of a report: what each gains, and a table of predicted next to measured.
#pragma once

#include <string>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect {

/// "gains 34% (31 to 36%), measured"; empty without a figure.
[[nodiscard]] std::string what_if_gain(const WhatIfResult& what_if, const Estimate& live);
/// Empty if no what-if was asked.
[[nodiscard]] std::string what_if_table(const Report& report, const TextPaint& paint, int columns);

}  // namespace cachebisect
