#include "cachebisect/bisect/record/round_runner.hpp"

#include <algorithm>

#include "cachebisect/bisect/record/shuffle.hpp"

namespace cachebisect {

StoppingRule::~StoppingRule() = default;

int repeats_within(double seconds, double round_seconds, int most) {
  if (!(round_seconds > 0)) return most;
  return static_cast<int>(std::clamp(seconds / round_seconds, 0.0, static_cast<double>(most)));
}

int WarmupRange::draw(RandomStream& random) const {
  if (choices <= 1) return min;
  return min + static_cast<int>(random.below(static_cast<std::uint64_t>(choices)));
}

void RoundRunner::run_block(const PlannedBlock& block, int repeat, const PlannedRound& round,
                            RoundTable& table) {
  blocks_->set_round(round.number + repeat, round.number);
  // The blocks before it may have used up what no stage has had.
  if (block.arm.kind == ArmKind::unseen && !blocks_->supports(block.arm)) return;
  const BlockResult result = blocks_->run(block.arm, block.warmup.draw(*random_), block.steps);
  // What these show is in their counters.
  if (block.arm.kind == ArmKind::unseen) return;
  if (block.arm.kind != ArmKind::null) {
    const auto extra = round.also == nullptr ? std::nullopt : round.also->find(block.arm);
    if (extra) round.also->add(*extra, result, repeat);
    if (const auto column = table.find(block.arm); column || !extra) {
      table.add(column.value(), result, repeat);
    }
    return;
  }
  const int column = table.find({.boundary = block.arm.boundary}).value();
  table.add_null(column, result, repeat);
  if (!round.null_counts_for_mean) return;
  table.add_again(column, result, repeat);
  blocks_->count_last_for_mean();
}

bool RoundRunner::run(const PlannedRound& round, RoundTable& table) {
  table.discard();
  if (round.also != nullptr) round.also->discard();
  const std::size_t first = blocks_->records().size();
  const auto end_early = [&] {
    table.commit_unfinished();
    blocks_->mark_unfinished(first);
  };
  bool complete = false;
  try {
    complete = run_blocks(round, table);
  } catch (...) {
    end_early();
    throw;
  }
  if (!complete) {
    end_early();
    return false;
  }
  table.commit();
  if (round.also != nullptr) round.also->commit();
  return true;
}

/// False if the time is up.
bool RoundRunner::run_blocks(const PlannedRound& round, RoundTable& table) {
  struct Place {
    const PlannedBlock* block;
    int repeat;  ///< random with regard to time: rounds of one super-round are alike
  };
  std::vector<Place> places;
  for (int repeat = 0; repeat < round.repeats; ++repeat) {
    for (const PlannedBlock& block : round.blocks) places.push_back({&block, repeat});
  }
  shuffle(places, *random_);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == 0) blocks_->freshen(round.number);
    if (i % round.blocks.size() == 0) {
      blocks_->begin_round(round.number + static_cast<int>(i / round.blocks.size()));
    }
    if (blocks_->elapsed() >= round.until) return false;
    run_block(*places[i].block, places[i].repeat, round, table);
  }
  return true;
}

void RoundRunner::repeat(const RepeatedRounds& rounds, const StoppingRule& rule, RoundTable& table,
                         const std::function<void()>& after_round) {
  PlannedRound round = rounds.first;
  while (table.rounds() < rounds.max_rounds) {
    if (table.rounds() > 0 && rule.enough(table)) return;
    const double left = round.until - blocks_->elapsed();
    round.repeats = repeats_within(left, rounds.round_seconds, rounds.repeats);
    if (round.repeats == 0) return;
    round.number = rounds.first.number + static_cast<int>(table.rounds());
    if (!run(round, table)) return;
    after_round();
  }
}

}  // namespace cachebisect
