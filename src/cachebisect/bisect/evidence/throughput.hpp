// Throughput of an arm, as it is printed.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/estimate.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Samples/s by the mean. The interval is that of the median block, widened to contain the mean.
/// Empty if no round ran the arm.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate throughput(const RoundTable& rounds, int arm,
                                                           double confidence);

}  // namespace cachebisect
