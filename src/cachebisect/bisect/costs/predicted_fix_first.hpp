// Which stage is worth most to fix, according to the cost model.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"

namespace cachebisect {

/// Smaller leads of one stage over another are not reported.
inline constexpr double kReportLeadAboveRatio = 1.03;

/// The name of that stage. Empty if there is no model, if it misses live by more than 10%, or if
/// fixing `named` (a stage's name) gives as much: no less than the best throughput over `lead`.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::string> predicted_fix_first(
    const ChainDescription& chain, const std::optional<Forecast>& forecast,
    const std::string& named, double lead);

/// The same for a stage that no measured payoff contradicts: `named` itself if there is no other
/// with a lead to report, or if the costs of one of the two vary too much between blocks for
/// the model to stand alone.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string fix_first_by_model(
    const ChainDescription& chain, const std::optional<Forecast>& forecast,
    const std::string& named);

}  // namespace cachebisect
