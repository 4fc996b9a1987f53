// What each stage costs in two jobs that were measured in turns.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/compare/comparison.hpp"
#include "cachebisect/compare/paired_rounds.hpp"

namespace cachebisect {

/// Busy seconds per sample of the stages that both chains have, and their change: from the counters
/// of neighbouring live blocks. Stages match by name, else as the only ones of their type that are
/// left. Left out are stages without counters in either job, and those that take less than 1% of
/// the time of all.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<ComparedFigure> paired_stages(
    const PairedRounds& rounds, const ChainDescription& a, const ChainDescription& b,
    double confidence);

/// Which stages match without having the same name, in sentences.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> notes_of_renamed(
    const ChainDescription& a, const ChainDescription& b);

}  // namespace cachebisect
