#include "cachebisect/bisect/phases/arm_rounds.hpp"

#include <algorithm>

namespace cachebisect {

double pilot_step_seconds(BlockRunner& blocks, const BlockLengths& lengths, const Arm& arm,
                          double guess) {
  const BlockResult block =
      blocks.run(arm, lengths.warmup(arm.shared_boundary(), guess), lengths.steps_for(guess));
  return block.seconds / std::max(1, block.steps);
}

RepeatedRounds repeated_rounds(const BlockLengths& lengths, const std::vector<TimedArm>& arms,
                               int first_number, double until) {
  RepeatedRounds rounds;
  rounds.first.number = first_number;
  rounds.first.until = until;
  for (const TimedArm& timed : arms) {
    rounds.first.blocks.push_back(lengths.block(timed.arm, timed.step_seconds));
    rounds.round_seconds += lengths.block_seconds(timed.arm, timed.step_seconds);
  }
  return rounds;
}

std::vector<Arm> columns_of(const std::vector<TimedArm>& arms) {
  std::vector<Arm> columns(arms.size());
  std::transform(arms.begin(), arms.end(), columns.begin(),
                 [](const TimedArm& timed) { return timed.arm; });
  return columns;
}

}  // namespace cachebisect
