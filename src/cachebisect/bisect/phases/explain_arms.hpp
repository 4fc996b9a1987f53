// What the rounds after a verdict compare.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Stages (1-based) whose payoff is worth measuring, at most four. For a drop: the leader, the
/// busiest by the inline probes of live blocks, and those that may be as large as the leader. For a
/// spread: the busiest and those that hold half of the loss. None for other verdicts.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<int> stages_to_free(
    const VerdictState& state, const std::vector<BlockRecord>& records);

/// Stages (1-based), at most four, that may hold the loop back at the same time as the named one,
/// each with workers of its own: freeing that one wins back less than half of what it costs.
/// `rounds` explain the verdict. Empty if it wins back more, or was not freed.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<int> stages_beside(const VerdictState& state,
                                                                      const RoundTable& rounds);

/// The arms to compare, as far as the replayer supports them: live and ceiling first. For `flat`
/// only live with and without probes. Empty if there is nothing to compare.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Arm> arms_to_explain(
    const Replayer& replayer, VerdictKind verdict, int stages, const std::vector<int>& free);

/// The stage (1-based) that the decision names; 0 if it names none or a span.
[[nodiscard]] CACHEBISECT_INTERNAL_API int named_stage(const VerdictState& state);

}  // namespace cachebisect
