// The verdict as the report states it.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/explanation.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"

namespace cachebisect {

/// Without its sentence. `refused`: the costs are too near the tool's own for a verdict. Before the
/// first complete round `state` is empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API Verdict make_verdict(const Measurements& measured,
                                                            const VerdictState& state,
                                                            const Explanation& explanation,
                                                            const std::optional<Forecast>& forecast,
                                                            bool refused);

}  // namespace cachebisect
