// Throughput of an arm, as it is printed.
#pragma once

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Samples/s by the mean. The interval is typical_interval() of the blocks, widened to contain the
/// mean. Empty if no round ran the arm.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate throughput(const RoundTable& rounds, int arm,
                                                           double confidence);

/// Samples/s of an arm of which `ratio` is log tau(anchor) - log tau(arm): times the throughput of
/// the anchor, by the mean of all its blocks in `rounds`. The error of that mean (Student's
/// interval) and the half widths of the ratio's interval add up in quadrature, because rounds are
/// independent.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate anchored_throughput(const LogRatio& ratio,
                                                                    const RoundTable& rounds,
                                                                    int anchor, double confidence);

/// Samples/s of an arm by its ratio to the first or the last arm of the table in the same rounds,
/// whichever is known better, at `confidence` for both together. The interval is that of the ratio
/// alone: it compares arms, also on a machine that changes. Empty if the rounds are too few for an
/// interval, or if no constant ratio explains them.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate paired_throughput(const RoundTable& rounds, int arm,
                                                                  double confidence);

}  // namespace cachebisect
