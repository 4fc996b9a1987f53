// The verdict as the report states it.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/explain/explanation.hpp"
#include "cachebisect/bisect/report/waterfall.hpp"

namespace cachebisect {

/// The stage that is worth most to fix according to the cost model, for verdicts without measured
/// payoffs. Empty if there is no model, if it misses live by more than 10%, or if fixing `named`
/// (a stage's name) gains as much within 3%.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::string> predicted_fix_first(
    const ChainDescription& chain, const std::optional<Forecast>& forecast,
    const std::string& named);

/// Without its sentence. `refused`: the costs are too near the tool's own for a verdict. Before the
/// first complete round `state` is empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API Verdict make_verdict(const Measurements& measured,
                                                            const VerdictState& state,
                                                            const Explanation& explanation,
                                                            const std::optional<Forecast>& forecast,
                                                            bool refused);

}  // namespace cachebisect
