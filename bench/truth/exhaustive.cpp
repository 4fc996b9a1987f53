#include "bench/truth/exhaustive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/round_runner.hpp"
#include "cachebisect/protocol/settling.hpp"

namespace cachebisect::truth {
namespace {

constexpr double kBlockSeconds = 0.04;
constexpr double kConfidence = 0.99;
constexpr int kPilotSteps = 3;
constexpr std::size_t kMinRounds = 10;

double drop_of(double log_ratio) { return 1 - std::exp(-log_ratio); }

/// The drop of the median round between two arms, with its interval.
double median_drop(const std::vector<double>& before, const std::vector<double>& after,
                   Interval& interval) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before.size(); ++i) ratios.push_back(std::log(before[i] / after[i]));
  const auto range = median_interval(ratios, kConfidence);
  if (range) interval = {drop_of(range->low), drop_of(range->high)};
  return drop_of(median(ratios));
}

/// Rounds of all boundaries, and of the shadow if the replayer supports it.
class Rounds {
 public:
  Rounds(Replayer& replayer, const BisectOptions& options)
      : blocks_(replayer, options, records_),
        random_({.seed = options.seed, .stage = hash_name("exhaustive")}),
        runner_(blocks_, random_) {
    const ChainDescription chain = replayer.describe();
    boundaries_ = static_cast<int>(chain.stages.size()) + 1;
    const int warmup = settling_steps(chain.workers, chain.ring_slots);
    std::vector<Arm> arms;
    for (int k = 0; k < boundaries_; ++k) arms.push_back({.boundary = k});
    const Arm shadow{.kind = ArmKind::shadow};
    if (replayer.supports(shadow)) arms.push_back(shadow);
    for (const Arm& arm : arms) {
      const double step = blocks_.run(arm, warmup, kPilotSteps).seconds / kPilotSteps;
      const int steps = std::max(kPilotSteps, static_cast<int>(std::ceil(kBlockSeconds / step)));
      planned_.blocks.push_back({arm, steps, {.min = warmup}});
    }
    planned_.until = std::numeric_limits<double>::infinity();
    table_ = RoundTable(std::move(arms));
  }

  void add() {
    runner_.run(planned_, table_);
    ++planned_.number;
  }

  [[nodiscard]] std::size_t count() const { return table_.rounds(); }
  [[nodiscard]] int boundaries() const { return boundaries_; }
  [[nodiscard]] bool has_shadow() const { return table_.last() == boundaries_; }
  /// Seconds per sample of an arm, round by round; the shadow is the arm after the boundaries.
  [[nodiscard]] std::vector<double> at(int arm) const { return table_.block_taus(arm); }

 private:
  std::vector<BlockRecord> records_;
  BlockRunner blocks_;
  RandomStream random_;
  RoundRunner runner_;
  int boundaries_ = 0;
  PlannedRound planned_;
  RoundTable table_{std::vector<Arm>{}};
};

}  // namespace

ExhaustiveTruth measure_exhaustively(Replayer& replayer, double seconds, std::uint64_t seed) {
  const BisectOptions options{.seed = seed};
  Rounds rounds(replayer, options);
  const double end = replayer.clock() + seconds;
  while (rounds.count() < kMinRounds || replayer.clock() < end) rounds.add();
  ExhaustiveTruth result;
  result.rounds = static_cast<int>(rounds.count());
  selftest::Truth& truth = result.truth;
  truth.shape = selftest::Pattern::contention;
  const int last = rounds.boundaries() - 1;
  for (int k = 0; k <= last; ++k) truth.seconds_per_sample.push_back(median(rounds.at(k)));
  for (int s = 1; s <= last; ++s) {
    truth.drops.push_back(
        median_drop(rounds.at(s - 1), rounds.at(s), truth.drop_intervals.emplace_back()));
  }
  truth.largest = selftest::largest_stage(truth.seconds_per_sample);
  truth.loss = median_drop(rounds.at(0), rounds.at(last), truth.loss_interval.emplace());
  if (rounds.has_shadow()) {
    result.contention =
        median_drop(rounds.at(last + 1), rounds.at(last), result.contention_interval);
  }
  return result;
}

}  // namespace cachebisect::truth
