// What each stage costs in two jobs that were measured in turns.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/compare/comparison.hpp"
#include "cachebisect/compare/paired_rounds.hpp"
#include "cachebisect/compare/stage_matches.hpp"

namespace cachebisect {

/// Busy seconds per sample of the stages of `a` that match one of the other chain, and their
/// change: from the counters of neighbouring live blocks. Left out are stages without counters in
/// either job, and those that take less than 1% of the time of all.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<ComparedFigure> paired_stages(
    const PairedRounds& rounds, const ChainDescription& a, const StageMatches& matches,
    double confidence);

}  // namespace cachebisect
