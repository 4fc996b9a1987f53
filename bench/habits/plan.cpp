#include "bench/habits/plan.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/simulate/simulated_ring.hpp"

namespace cachebisect::habits {
namespace {

constexpr double kTimedSamples = 131'072;  ///< whole periods of all factors
constexpr int kMinSteps = 400;
constexpr double kWarmup = 0.125;  ///< of the timed steps
/// What executor and device add to a plan, as a share of throughput.
constexpr double kNoDrop = 0.003;

double seconds_per_sample(const SimulatedChain& chain, int boundary) {
  const auto batch = static_cast<double>(chain.batch_size);
  const int timed = std::max(kMinSteps, static_cast<int>(std::ceil(kTimedSamples / batch)));
  const int warmup = static_cast<int>(kWarmup * timed);
  const RingRun run = SimulatedRing(chain).run({.boundary = boundary, .steps = warmup + timed});
  const auto& ends = run.step_ends;
  return (ends.back() - ends[static_cast<std::size_t>(warmup) - 1]) / (timed * batch);
}

double ceiling(const SimulatedChain& chain) {
  return chain.step_seconds / static_cast<double>(chain.batch_size);
}

selftest::Truth plan_drops(const HabitChain& chain, const SimulatedChain& costs) {
  constexpr double kAtCeiling = 1 + 1e-6;
  selftest::Truth truth;
  truth.planted = chain.habit;
  auto& taus = truth.seconds_per_sample;
  for (int k = 0; k < costs.boundaries(); ++k) {
    const bool at_ceiling = !taus.empty() && taus.back() < ceiling(costs) * kAtCeiling;
    taus.push_back(at_ceiling ? ceiling(costs) : seconds_per_sample(costs, k));
  }
  taus.push_back(ceiling(costs));
  set_drops(truth, kNoDrop);
  return truth;
}

std::vector<double> plan_payoffs(const SimulatedChain& costs, double live) {
  std::vector<double> payoffs;
  for (std::size_t s = 0; s < costs.stages.size(); ++s) {
    SimulatedChain without = costs;
    without.stages[s].seconds = 0;
    const bool free = costs.stages[s].seconds <= 0;
    payoffs.push_back(free ? 0 : 1 - seconds_per_sample(without, 0) / live);
  }
  // Collate and copy cost next to nothing.
  payoffs.resize(static_cast<std::size_t>(costs.boundaries()));
  return payoffs;
}

SimulatedChain grown(const HabitChain& chain) {
  SimulatedChain costs = chain.planted.chain;
  for (int stage = chain.first; stage <= chain.last; ++stage) {
    costs.stages[static_cast<std::size_t>(stage) - 1].seconds *= chain.grows_to;
  }
  return costs;
}

void hold_both(Interval& interval, const Interval& other) {
  interval = {std::min(interval.low, other.low), std::max(interval.high, other.high)};
}

}  // namespace

double planned_loss(const HabitChain& chain) {
  const SimulatedChain& costs = chain.planted.chain;
  return 1 - ceiling(costs) / seconds_per_sample(costs, 0);
}

HabitTruth plan_truth(const HabitChain& chain) {
  HabitTruth result;
  const SimulatedChain after = grown(chain);
  result.truth = plan_drops(chain, after);
  result.payoffs = plan_payoffs(after, result.truth.seconds_per_sample.front());
  if (chain.grows_to == 1) return result;
  const selftest::Truth before = plan_drops(chain, chain.planted.chain);
  for (std::size_t s = 0; s < before.drops.size(); ++s) {
    hold_both(result.truth.drop_intervals[s], before.drop_intervals[s]);
  }
  hold_both(*result.truth.loss_interval, *before.loss_interval);
  return result;
}

}  // namespace cachebisect::habits
