#include "bench/habits/sustained.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::habits {
namespace {

constexpr std::size_t kPairs = 8;  ///< blocks for a 99% interval of the median
constexpr double kConfidence = 0.99;
constexpr int kGuessSteps = 5;
/// How far the drops of stages are off that are divided by busy seconds.
constexpr double kDividedSlack = 0.015;

/// One live loop, in blocks of a given length.
class LiveLoop {
 public:
  LiveLoop(const std::string& json, const Registry& registry)
      : job_(open_job(Pipeline::from_json(json, registry), &registry)),
        replayer_(job_.make_replayer()),
        chain_(replayer_.describe()) {}

  /// Chooses the number of steps of a block by a first short one.
  void plan_blocks(double seconds) {
    const BlockResult guess = run(kGuessSteps);
    plan_blocks(seconds, guess.seconds / static_cast<double>(guess.samples));
  }
  /// The same for a known speed.
  void plan_blocks(double seconds, double seconds_per_sample) {
    const double step = seconds_per_sample * static_cast<double>(chain_.batch_size);
    steps_ = std::max(kGuessSteps, static_cast<int>(std::ceil(seconds / step)));
  }
  /// Runs a block; returns its seconds per sample.
  double run_block() {
    const BlockResult block = run(steps_);
    busy_.resize(block.stages.size());
    for (std::size_t s = 0; s < block.stages.size(); ++s) busy_[s] += block.stages[s];
    return block.seconds / static_cast<double>(block.samples);
  }
  /// Runs a short block of the training step alone; returns its seconds per sample.
  double run_ceiling_block() {
    if (!prepared_) static_cast<void>(replayer_.prepare({}, {}));
    prepared_ = true;
    const Arm step_alone{.boundary = static_cast<int>(chain_.stages.size())};
    const BlockResult block = replayer_.run(
        {.arm = step_alone, .steps = std::max(kGuessSteps, steps_ / 4), .warmup_steps = warmup()},
        {});
    return block.seconds / static_cast<double>(block.samples);
  }
  /// Seconds per sample that a stage (0-based) kept a worker busy.
  [[nodiscard]] double busy(std::size_t stage) const {
    const StageCounters& counters = busy_[stage];
    return counters.samples == 0 ? 0
                                 : counters.busy_seconds / static_cast<double>(counters.samples);
  }
  [[nodiscard]] const ChainDescription& chain() const noexcept { return chain_; }

 private:
  /// Until the ring is as full as in the long run.
  [[nodiscard]] int warmup() const {
    return std::max({4, chain_.ring_slots + chain_.workers, chain_.copy_prefetch + 1});
  }
  BlockResult run(int steps) {
    replayer_.begin_round();
    return replayer_.run({.arm = {}, .steps = steps, .warmup_steps = warmup()}, {});
  }

  Job job_;
  PipelineReplayer replayer_;
  ChainDescription chain_;
  std::vector<StageCounters> busy_;
  int steps_ = kGuessSteps;
  bool prepared_ = false;
};

/// Seconds per sample, block by block.
struct Pairs {
  std::vector<double> with;
  std::vector<double> without;
  std::vector<double> ceiling;
};

Pairs run_pairs(LiveLoop& with, LiveLoop& without, double seconds) {
  for (LiveLoop* const loop : {&with, &without}) loop->plan_blocks(seconds / kPairs);
  Pairs pairs;
  for (std::size_t i = 0; i < kPairs; ++i) {
    pairs.with.push_back(with.run_block());
    pairs.without.push_back(without.run_block());
    pairs.ceiling.push_back(without.run_ceiling_block());
  }
  return pairs;
}

/// The 99% interval of the habit's payoff.
Interval payoff_interval(const Pairs& pairs) {
  std::vector<double> payoffs;
  for (std::size_t i = 0; i < kPairs; ++i) {
    payoffs.push_back(1 - pairs.without[i] / pairs.with[i]);
  }
  return median_interval(payoffs, kConfidence).value();
}

/// What the loop takes when stages are free one after the other.
class Waterfall {
 public:
  Waterfall(const HabitChain& chain, const LiveLoop& loop, double live, double without,
            double ceiling)
      : chain_(chain), live_(live), without_(without), ceiling_(std::min(ceiling, without)) {
    const double workers = std::max(1, loop.chain().workers);
    for (std::size_t s = 0; s < loop.chain().stages.size(); ++s) {
      const bool counts = runs_on_host(loop.chain().stages[s].category) || has_habit(s);
      share_.push_back(counts ? loop.busy(s) / workers : 0);
    }
  }

  /// Seconds per sample with stages 1 to k free.
  [[nodiscard]] double after(std::size_t k) const {
    double upstream = 0;  // not of the habit
    double habit = 0;
    double habit_free = 0;
    for (std::size_t s = 0; s < share_.size(); ++s) {
      const bool is_habit = has_habit(s);
      if (is_habit) habit += share_[s];
      if (s >= k) continue;
      (is_habit ? habit_free : upstream) += share_[s];
    }
    const double gained = habit > 0 ? habit_free / habit : 0;
    const bool all_free = static_cast<int>(k) >= chain_.last;
    const double base = live_ - (all_free ? 1 : gained) * (live_ - without_);
    const bool counts = chain_.uses_workers || all_free;
    return std::clamp(base - (counts ? upstream : 0), ceiling_, live_);
  }
  /// Share of the live time that a stage costs.
  [[nodiscard]] double payoff(std::size_t s) const {
    if (has_habit(s) && chain_.first == chain_.last) return 1 - without_ / live_;
    if (!chain_.uses_workers && !has_habit(s)) return 0;
    return 1 - std::clamp(live_ - share_[s], ceiling_, live_) / live_;
  }
  [[nodiscard]] std::size_t stages() const noexcept { return share_.size(); }
  [[nodiscard]] double ceiling() const noexcept { return ceiling_; }

 private:
  [[nodiscard]] bool has_habit(std::size_t s) const noexcept {
    const int stage = static_cast<int>(s) + 1;
    return stage >= chain_.first && stage <= chain_.last;
  }

  const HabitChain& chain_;
  double live_;
  double without_;
  double ceiling_;
  std::vector<double> share_;  ///< by stage: busy seconds per sample over the workers
};

}  // namespace

HabitTruth measure_truth(const HabitChain& chain, double seconds, const Registry& registry) {
  LiveLoop with(pipeline_json(chain), registry);
  LiveLoop without(pipeline_json(chain, false), registry);
  const Pairs pairs = run_pairs(with, without, seconds);
  const Waterfall waterfall(chain, with, median(pairs.with), median(pairs.without),
                            median(pairs.ceiling));
  HabitTruth result;
  selftest::Truth& truth = result.truth;
  truth.planted = chain.habit;
  for (std::size_t k = 0; k < waterfall.stages(); ++k) {
    truth.seconds_per_sample.push_back(waterfall.after(k));
  }
  truth.seconds_per_sample.push_back(waterfall.ceiling());
  const Interval known = payoff_interval(pairs);
  set_drops(truth, kDividedSlack + 0.5 * (known.high - known.low));
  for (std::size_t s = 0; s < waterfall.stages(); ++s) {
    result.payoffs.push_back(waterfall.payoff(s));
  }
  return result;
}

Gain measure_gain(const std::string& before, const std::string& after, double seconds,
                  const Registry& registry) {
  LiveLoop old_loop(before, registry);
  LiveLoop new_loop(after, registry);
  for (LiveLoop* const loop : {&old_loop, &new_loop}) loop->plan_blocks(seconds / kPairs);
  std::vector<double> gains;
  for (std::size_t i = 0; i < kPairs; ++i)
    gains.push_back(old_loop.run_block() / new_loop.run_block());
  return {median(gains), median_interval(gains, kConfidence).value()};
}

double sustained_seconds_per_sample(const std::string& json, double seconds,
                                    const Registry& registry) {
  LiveLoop loop(json, registry);
  loop.plan_blocks(seconds);
  loop.plan_blocks(seconds, loop.run_block());
  return loop.run_block();
}

}  // namespace cachebisect::habits
