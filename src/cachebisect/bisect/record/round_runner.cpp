#include "cachebisect/bisect/record/round_runner.hpp"

#include "cachebisect/base/shuffle.hpp"

namespace cachebisect {

StoppingRule::~StoppingRule() = default;

int WarmupRange::draw(RandomStream& random) const {
  if (choices <= 1) return min;
  return min + static_cast<int>(random.below(static_cast<std::uint64_t>(choices)));
}

void RoundRunner::run_block(const PlannedBlock& block, const PlannedRound& round,
                            RoundTable& table) {
  const BlockResult result = blocks_->run(block.arm, block.warmup.draw(*random_), block.steps);
  if (block.arm.kind != ArmKind::null) {
    const auto extra = round.also == nullptr ? std::nullopt : round.also->find(block.arm);
    if (extra) round.also->add(*extra, result);
    if (const auto column = table.find(block.arm); column || !extra) {
      table.add(column.value(), result);
    }
    return;
  }
  const int column = table.find({.boundary = block.arm.boundary}).value();
  table.add_null(column, result);
  if (round.null_counts_for_mean) table.add_again(column, result);
}

bool RoundRunner::run(const PlannedRound& round, RoundTable& table) {
  table.discard();
  if (round.also != nullptr) round.also->discard();
  blocks_->begin_round(round.number);
  if (!run_blocks(round, table)) {
    table.discard();
    return false;
  }
  table.commit();
  if (round.also != nullptr) round.also->commit();
  return true;
}

/// False if the time is up.
bool RoundRunner::run_blocks(const PlannedRound& round, RoundTable& table) {
  std::vector<PlannedBlock> blocks = round.blocks;
  shuffle(blocks, *random_);
  for (const PlannedBlock& block : blocks) {
    if (blocks_->elapsed() >= round.until) return false;
    run_block(block, round, table);
  }
  return true;
}

void RoundRunner::repeat(const RepeatedRounds& rounds, const StoppingRule& rule, RoundTable& table,
                         const std::function<void()>& after_round) {
  PlannedRound round = rounds.first;
  while (table.rounds() < rounds.max_rounds) {
    if (table.rounds() > 0 && rule.enough(table)) return;
    if (rounds.round_seconds > round.until - blocks_->elapsed()) return;
    round.number = rounds.first.number + static_cast<int>(table.rounds());
    if (!run(round, table)) return;
    after_round();
  }
}

}  // namespace cachebisect
