// What observing a loop costs.
#pragma once

#include <span>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// By which share blocks that are observed take longer than others, with the interval of the mean
/// at 95%. `log_ratios`: of the seconds of pairs of blocks, observed over not observed. Without
/// pairs there is no value, below two of them no interval.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate slowdown_of(std::span<const double> log_ratios);

}  // namespace cachebisect
