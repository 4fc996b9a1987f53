// Rounds that compare the same few arms again and again.
#pragma once

#include <functional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/block_lengths.hpp"
#include "cachebisect/bisect/record/round_runner.hpp"

namespace cachebisect {

/// An arm and the seconds of its step; 0: not known.
struct TimedArm {
  Arm arm;
  double step_seconds = 0;
};

/// Seconds per step of an arm, by a block that is not evidence. `guess` sets its length. Throws as
/// BlockRunner::run does.
[[nodiscard]] CACHEBISECT_INTERNAL_API double pilot_step_seconds(BlockRunner& blocks,
                                                                 const BlockLengths& lengths,
                                                                 const Arm& arm, double guess);

/// Rounds of these arms, numbered from `first_number`.
[[nodiscard]] CACHEBISECT_INTERNAL_API RepeatedRounds repeated_rounds(
    const BlockLengths& lengths, const std::vector<TimedArm>& arms, int first_number, double until);

/// The arms of a table's columns.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Arm> columns_of(
    const std::vector<TimedArm>& arms);

}  // namespace cachebisect
