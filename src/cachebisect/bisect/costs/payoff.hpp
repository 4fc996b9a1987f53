// What fixing one stage alone would give, by the law and the inline probes, where no bypass arm was
// measured.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct PredictedPayoff {
  std::string stage;
  double samples_per_second = 0;
};

/// The stage whose removal the law says pays most; none where the inline probes are missing or
/// explain the live figure to worse than 10%, or where the named stage pays as much within 3%.
[[nodiscard]] CACHEBISECT_API std::optional<PredictedPayoff> best_payoff(const Report& report);

}  // namespace cachebisect
