#include "cachebisect/compare/paired_rounds.hpp"

#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/evidence/paired_sequence.hpp"
#include "cachebisect/bisect/phases/arm_rounds.hpp"
#include "cachebisect/protocol/settling.hpp"

namespace cachebisect {
namespace {

constexpr int kA = 0;
constexpr int kB = 1;
constexpr std::size_t kMaxRounds = 20000;
/// Rounds are judged when there are so many more, as a share: judging them costs time.
constexpr std::size_t kRoundsBetweenLooks = 20;

void check(const PairedOptions& options) {
  if (!(options.budget_seconds > 0) || options.budget_seconds > 1e7) {
    throw Error(ErrorKind::usage, "the budget must be above 0 s and at most 1e7 s");
  }
  if (!(options.confidence >= 0.5) || options.confidence > 0.999999) {
    throw Error(ErrorKind::usage, "the confidence must lie in [0.5, 0.999999]");
  }
}

/// The block lengths of a job that is only run live.
BlockLengths lengths_of(const ChainDescription& chain) {
  BlockLengths lengths(block_length_options(chain));
  lengths.set_warmup(settling_steps(chain.workers, chain.ring_slots));
  return lengths;
}

class KnownWellEnough final : public StoppingRule {
 public:
  explicit KnownWellEnough(const PairedOptions& options) : options_(&options) {}
  [[nodiscard]] bool enough(const RoundTable& rounds) const override {
    const std::size_t step = 1 + rounds.rounds() / kRoundsBetweenLooks;
    if (!options_->enough || rounds.rounds() % step != 0) return false;
    return options_->enough(paired_rate_ratio(rounds, options_->confidence));
  }

 private:
  const PairedOptions* options_;
};

class Session {
 public:
  Session(Replayer& replayer, const PairedArm& a, const PairedArm& b, const PairedOptions& options)
      : options_(options),
        bisect_options_(bisect_options(options)),
        blocks_(replayer, bisect_options_, records_),
        random_({.seed = options.seed, .stage = hash_name("pairs")}),
        runner_(blocks_, random_),
        arms_{a.arm, b.arm},
        lengths_{lengths_of(a.chain), lengths_of(b.chain)} {
    result_.table = RoundTable(arms_);
  }

  PairedRounds run() {
    try {
      blocks_.start();
      repeat(pilot());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted || result_.table.rounds() == 0) throw;
      result_.interrupted = true;
    }
    result_.seconds = blocks_.elapsed();
    result_.records = std::move(records_);
    return std::move(result_);
  }

 private:
  static BisectOptions bisect_options(const PairedOptions& options) {
    check(options);
    BisectOptions out;
    out.budget_seconds = options.budget_seconds;
    out.seed = options.seed;
    out.progress = options.progress;
    out.stop = options.stop;
    return out;
  }

  /// Seconds of a step of each arm, by two blocks that are not evidence: the first also pays for
  /// what a process does once.
  std::vector<double> pilot() {
    blocks_.set_phase(BlockPhase::pilot);
    blocks_.begin_round(-1);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      const double first = pilot_step_seconds(blocks_, lengths_[i], arms_[i], 0);
      seconds.push_back(pilot_step_seconds(blocks_, lengths_[i], arms_[i], first));
    }
    return seconds;
  }

  void repeat(const std::vector<double>& step_seconds) {
    RepeatedRounds rounds;
    rounds.max_rounds = kMaxRounds;
    // On a busy machine two neighbours have more in common than three pairs in any order.
    rounds.repeats = 1;
    rounds.first.until = blocks_.budget();
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      rounds.first.blocks.push_back(lengths_[i].block(arms_[i], step_seconds[i]));
      rounds.round_seconds += lengths_[i].block_seconds(arms_[i], step_seconds[i]);
    }
    blocks_.set_phase(BlockPhase::measure);
    runner_.repeat(rounds, KnownWellEnough(options_), result_.table, [] {});
  }

  const PairedOptions& options_;
  BisectOptions bisect_options_;
  std::vector<BlockRecord> records_;
  BlockRunner blocks_;
  RandomStream random_;
  RoundRunner runner_;
  std::vector<Arm> arms_;
  std::vector<BlockLengths> lengths_;
  PairedRounds result_;
};

}  // namespace

LogRatio paired_rate_ratio(const RoundTable& rounds, double confidence) {
  PairedSequence evidence(2 / (1 - confidence));
  for (const double ratio : rounds.log_ratios(kA, kB)) evidence.add(ratio);
  return log_ratio(evidence, evidence.centre());
}

PairedRounds measure_pairs(Replayer& replayer, const PairedArm& a, const PairedArm& b,
                           const PairedOptions& options) {
  return Session(replayer, a, b, options).run();
}

}  // namespace cachebisect
