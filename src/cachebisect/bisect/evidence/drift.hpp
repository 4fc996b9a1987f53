// Whether what is measured stays what it was: the trend of the live pipeline over the rounds.
#pragma once

#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Change of the seconds a sample from the first value to the last, as a share, by the median slope
/// of all pairs (Theil and Sen); interval by Kendall's rank statistic (Hollander and Wolfe,
/// "Nonparametric Statistical Methods", 9.3), which no single stall moves. `log_taus` in the order
/// of measuring; nothing for fewer than ten.
CACHEBISECT_API Estimate find_drift(std::span<const double> log_taus, double confidence);

}  // namespace cachebisect
