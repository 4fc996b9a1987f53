// The figures of two reports side by side. Internal to compare().
#pragma once

#include <vector>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/compare/comparison.hpp"

namespace cachebisect {

/// The figures of the whole job, then those of each stage that both reports have.
[[nodiscard]] std::vector<ComparedFigure> report_figures(const Report& a, const Report& b,
                                                         double confidence);

}  // namespace cachebisect
