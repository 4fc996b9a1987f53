// Runs super-rounds: some blocks of each arm, all in one random order, committed as a whole.
#pragma once

#include <functional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/record/round_table.hpp"
#include "cachebisect/protocol/arm.hpp"

namespace cachebisect {

/// Untimed steps, drawn anew for each block: uniform from `min` to `min + choices - 1`.
struct CACHEBISECT_INTERNAL_API WarmupRange {
  int min = 2;
  int choices = 1;
  /// Takes a random number only if there is a choice.
  [[nodiscard]] int draw(RandomStream& random) const;
};

/// One block of a round.
struct PlannedBlock {
  Arm arm;
  int steps = 8;  ///< timed
  WarmupRange warmup;
};

/// A super-round to run: `repeats` rounds of the same blocks.
struct PlannedRound {
  int number = 0;  ///< of the first round
  std::vector<PlannedBlock> blocks;
  int repeats = 1;
  double until = 0;  ///< BlockRunner::elapsed() at which an unfinished one is abandoned
  bool null_counts_for_mean = false;  ///< the null block is also a second block of its boundary
  /// If set, it also takes the blocks of the arms that it has columns for.
  RoundTable* also = nullptr;
};

/// How many rounds of `round_seconds` a super-round may have in what is left; 0 to `most`.
[[nodiscard]] CACHEBISECT_INTERNAL_API int repeats_within(double seconds, double round_seconds,
                                                          int most = kUsualRepeats);

/// Decides when enough rounds have been run.
class CACHEBISECT_INTERNAL_API StoppingRule {
 public:
  virtual ~StoppingRule();
  /// `rounds` holds at least one complete round.
  [[nodiscard]] virtual bool enough(const RoundTable& rounds) const = 0;
};

/// The same round, repeated in super-rounds.
struct RepeatedRounds {
  PlannedRound first;
  double round_seconds = 0;  ///< expected; a round that would not end before `until` is not begun
  std::size_t max_rounds = 16;
  int repeats = kUsualRepeats;  ///< rounds of a super-round
};

/// Not thread safe.
class CACHEBISECT_INTERNAL_API RoundRunner {
 public:
  /// Keeps references to both.
  RoundRunner(BlockRunner& blocks, RandomStream& random) : blocks_(&blocks), random_(&random) {}

  /// Runs a super-round and commits it to `table`; without unseen blocks that the replayer supports
  /// no more. It or `round.also` has a column for each arm except null and unseen ones. Returns
  /// false if `until` passed; throws as BlockRunner::run() does. Then what was measured is
  /// committed as unfinished, and not to `round.also`.
  bool run(const PlannedRound& round, RoundTable& table);
  /// Repeats a round until the rule is satisfied, the next round would not fit, or `max_rounds`
  /// were run. Calls `after_round` after each complete super-round.
  void repeat(const RepeatedRounds& rounds, const StoppingRule& rule, RoundTable& table,
              const std::function<void()>& after_round);

  [[nodiscard]] BlockRunner& blocks() noexcept { return *blocks_; }

 private:
  void run_block(const PlannedBlock& block, int repeat, const PlannedRound& round,
                 RoundTable& table);
  bool run_blocks(const PlannedRound& round, RoundTable& table);

  BlockRunner* blocks_;
  RandomStream* random_;
};

}  // namespace cachebisect
