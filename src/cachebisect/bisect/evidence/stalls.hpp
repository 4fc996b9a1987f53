// What rare stalls may add to a mean: too few of them have happened to know their rate well.
#pragma once

#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The largest mean that these block times allow, over their mean; 1 if none of them is a stall. A
/// stall is a block far above the median, by the median deviation. Stalls come as a Poisson process
/// of n equal ones, n = (sum of their excesses)^2 / (sum of squared excesses) (Kish's effective
/// size), whose rate has the exact interval of Garwood (1936). Stalls of a kind that never happened
/// are not foreseen. `taus`: seconds per sample, above 0.
[[nodiscard]] CACHEBISECT_INTERNAL_API double stalled_mean_limit(std::span<const double> taus,
                                                                 double confidence);

}  // namespace cachebisect
