// Puts measurements and analysis into one report.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Computes nothing. `analysis`: of these measurements. A partial report is the same with less in
/// it.
[[nodiscard]] CACHEBISECT_INTERNAL_API Report assemble(const Measurements& measured,
                                                       const Analysis& analysis);

}  // namespace cachebisect
