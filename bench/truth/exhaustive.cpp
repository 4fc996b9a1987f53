#include "bench/truth/exhaustive.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cachebisect/base/random.hpp"
#include "cachebisect/base/shuffle.hpp"

namespace cachebisect::truth {
namespace {

constexpr double kBlockSeconds = 0.04;
constexpr double kConfidence = 0.99;
constexpr std::size_t kFewestRounds = 10;

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

/// Seconds a sample of all arms, round by round.
class Rounds {
 public:
  Rounds(Replayer& replayer, std::uint64_t seed)
      : replayer_(replayer), random_({.seed = seed, .stage = hash_name("exhaustive")}) {
    const ChainDescription chain = replayer.describe();
    warmup_ = std::max({4, chain.workers, chain.ring_slots});
    for (int k = 0; k <= static_cast<int>(chain.stages.size()); ++k)
      arms_.push_back({.boundary = k});
    const Arm shadow{.kind = ArmKind::shadow};
    if (replayer.supports(shadow)) arms_.push_back(shadow);
    seconds_.resize(arms_.size());
    for (const Arm& arm : arms_) {
      const BlockResult pilot =
          replayer_.run({.arm = arm, .steps = 3, .warmup_steps = warmup_}, {});
      steps_.push_back(std::max(3, static_cast<int>(std::ceil(3 * kBlockSeconds / pilot.seconds))));
    }
  }

  /// A round in which a block is void does not count.
  void add() {
    replayer_.begin_round();
    std::vector<std::size_t> order(arms_.size());
    std::iota(order.begin(), order.end(), 0U);
    shuffle(order, random_);
    std::vector<double> round(arms_.size());
    for (const std::size_t at : order) {
      const BlockResult block =
          replayer_.run({.arm = arms_[at], .steps = steps_[at], .warmup_steps = warmup_}, {});
      if (block.is_void) return;
      round[at] = block.seconds / static_cast<double>(block.samples);
    }
    for (std::size_t at = 0; at < round.size(); ++at) seconds_[at].push_back(round[at]);
  }

  [[nodiscard]] std::size_t count() const { return seconds_.front().size(); }
  [[nodiscard]] std::size_t boundaries() const { return arms_.size() - (has_shadow() ? 1 : 0); }
  [[nodiscard]] bool has_shadow() const { return arms_.back().kind == ArmKind::shadow; }
  [[nodiscard]] const std::vector<double>& at(std::size_t boundary) const {
    return seconds_[boundary];
  }
  [[nodiscard]] const std::vector<double>& shadow() const { return seconds_.back(); }

 private:
  Replayer& replayer_;
  RandomStream random_;
  std::vector<Arm> arms_;
  std::vector<int> steps_;
  int warmup_ = 4;
  std::vector<std::vector<double>> seconds_;  ///< by arm
};

}  // namespace

ExhaustiveTruth measure_exhaustively(Replayer& replayer, double seconds, std::uint64_t seed) {
  Rounds rounds(replayer, seed);
  const double end = replayer.clock() + seconds;
  while (rounds.count() < kFewestRounds || replayer.clock() < end) rounds.add();
  ExhaustiveTruth result;
  result.rounds = static_cast<int>(rounds.count());
  selftest::Truth& truth = result.truth;
  truth.shape = selftest::Pattern::contention;
  const std::size_t last = rounds.boundaries() - 1;
  for (std::size_t k = 0; k <= last; ++k) truth.seconds_per_sample.push_back(median(rounds.at(k)));
  for (std::size_t s = 1; s <= last; ++s) {
    truth.drops.push_back(
        median_drop(rounds.at(s - 1), rounds.at(s), truth.drop_intervals.emplace_back()));
  }
  truth.largest = 1 + static_cast<int>(std::max_element(truth.drops.begin(), truth.drops.end()) -
                                       truth.drops.begin());
  truth.loss = median_drop(rounds.at(0), rounds.at(last), truth.loss_interval.emplace());
  if (rounds.has_shadow()) {
    result.contention = median_drop(rounds.shadow(), rounds.at(last), result.contention_interval);
  }
  return result;
}

}  // namespace cachebisect::truth
