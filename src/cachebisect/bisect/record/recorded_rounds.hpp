// The tables of rounds as they follow from the blocks of a run: what RoundRunner committed while
// the blocks ran.
#pragma once

#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// The rounds of one phase. Blocks of arms that have no column are left out.
[[nodiscard]] CACHEBISECT_INTERNAL_API RoundTable
recorded_rounds(std::span<const BlockRecord> blocks, BlockPhase phase, std::vector<Arm> columns);

/// The rounds that explain the verdict: those of its own rounds which ran arms that explain it, and
/// those that ran after it.
[[nodiscard]] CACHEBISECT_INTERNAL_API RoundTable
recorded_explanation(std::span<const BlockRecord> blocks, std::vector<Arm> columns);

}  // namespace cachebisect
