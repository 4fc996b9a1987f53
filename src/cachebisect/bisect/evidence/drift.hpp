// Whether the live pipeline drifts over the rounds.
#pragma once

#include <span>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Relative change of the seconds per sample from the first value to the last, by the median slope
/// (theil_sen() in statistics.hpp). `log_taus`: in the order in which they were measured. Empty for
/// fewer than ten values.
CACHEBISECT_INTERNAL_API Estimate find_drift(std::span<const double> log_taus, double confidence);

}  // namespace cachebisect
