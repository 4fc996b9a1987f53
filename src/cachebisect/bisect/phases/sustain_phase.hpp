// Runs the live pipeline, and the ceiling, in one piece before a verdict is printed.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/round_plan.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// The fewest groups of steps in a run in one piece, if its steps are slow: fewer than 16 say
/// nothing at 99% (see median_interval()), and the time may cut some off.
inline constexpr int kMinGroups = 20;

/// How long live is watched in one piece. Seconds. A drop can be overturned by a live that becomes
/// faster, as it may where its short blocks end before the ring is full; where they find the ring
/// empty, less is watched.
[[nodiscard]] CACHEBISECT_INTERNAL_API double sustain_seconds(const BisectOptions& options,
                                                              VerdictKind verdict,
                                                              const Measurements& measured);

/// Fills Measurements::sustained. Its time does not count as measuring. Throws as BlockRunner::run.
CACHEBISECT_INTERNAL_API void run_sustained(BlockRunner& blocks, const RoundPlan& plan,
                                            double seconds, Measurements& measured);

}  // namespace cachebisect
