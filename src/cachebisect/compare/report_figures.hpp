// The figures of two reports side by side. Internal to compare().
#pragma once

#include <vector>

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/compare/comparison.hpp"
#include "cachebisect/compare/stage_matches.hpp"

namespace cachebisect {

/// The figures of the whole job, then those of each stage of `a` that matches one of `b`.
[[nodiscard]] std::vector<ComparedFigure> report_figures(const Report& a, const Report& b,
                                                         const StageMatches& matches,
                                                         double confidence);

}  // namespace cachebisect
