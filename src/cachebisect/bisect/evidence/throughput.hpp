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

/// Samples/s of an arm by its ratio to the first and the last arm of the table in the same rounds,
/// times the throughput of these over all rounds. The interval is that of the ratio that is known
/// better, at `confidence` for both together. Empty if the rounds are too few for an interval, or
/// if no constant ratio explains them.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate paired_throughput(const RoundTable& rounds, int arm,
                                                                  double confidence);

}  // namespace cachebisect
