#include "bench/probe_cost/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"

namespace cachebisect::probe_cost {
namespace {

constexpr double kBlockSeconds = 0.040;
constexpr int kLeastSteps = 3;
constexpr int kLeastWarmup = 4;

struct BlockCost {
  double seconds = 0;      ///< a sample
  double cpu_seconds = 0;  ///< a sample, all of the block over what it delivered
};

struct Pair {
  BlockCost observed;
  BlockCost bare;
};

BlockCost run_block(Replayer& replayer, bool observed, int steps, int warmup) {
  const BlockRequest request{
      .arm = {.observed = observed}, .steps = steps, .warmup_steps = warmup, .seed = 0};
  // Between blocks the workers sleep: while they run, the kernel's sum lags behind by up to a tick.
  const double cpu = process_cpu_seconds();
  const BlockResult block = replayer.run(request, {});
  const auto timed = static_cast<double>(block.samples);
  const double delivered = timed * (steps + warmup) / steps;
  return {block.seconds / timed, (process_cpu_seconds() - cpu) / delivered};
}

/// Steps that take as long as the bisector's blocks, by blocks that double until they do.
int steps_of_block(Replayer& replayer, int warmup) {
  int steps = kLeastSteps;
  for (;;) {
    const BlockResult block =
        replayer.run({.arm = {.observed = false}, .steps = steps, .warmup_steps = warmup}, {});
    if (block.seconds >= kBlockSeconds) return steps;
    steps *= 2;
  }
}

Pair run_pair(Replayer& replayer, RandomStream& random, int steps, int warmup) {
  Pair pair;
  const bool observed_first = random.below(2) == 0;
  replayer.begin_round();
  for (const bool observed : {observed_first, !observed_first}) {
    (observed ? pair.observed : pair.bare) = run_block(replayer, observed, steps, warmup);
  }
  return pair;
}

Share share_of(const std::vector<Pair>& pairs, double BlockCost::*part, double confidence) {
  std::vector<double> ratios;
  ratios.reserve(pairs.size());
  for (const Pair& pair : pairs) ratios.push_back(std::log(pair.observed.*part / pair.bare.*part));
  const auto interval = median_interval(ratios, confidence);
  if (!interval) {
    throw Error(ErrorKind::usage, std::to_string(pairs.size()) +
                                      " pairs are too few for an interval; give more seconds");
  }
  return {std::expm1(median(ratios)), {std::expm1(interval->low), std::expm1(interval->high)}};
}

double bare_median(const std::vector<Pair>& pairs, double BlockCost::*part) {
  std::vector<double> values;
  values.reserve(pairs.size());
  for (const Pair& pair : pairs) values.push_back(pair.bare.*part);
  return median(values);
}

}  // namespace

ProbeCost measure_probe_cost(Replayer& replayer, const PairOptions& options) {
  const int warmup = std::max(kLeastWarmup, replayer.describe().ring_slots);
  const int steps = steps_of_block(replayer, warmup);
  RandomStream random({.seed = options.seed});
  std::vector<Pair> pairs;
  const double end = replayer.clock() + options.seconds;
  while (replayer.clock() < end) {
    pairs.push_back(run_pair(replayer, random, steps, warmup));
  }
  return {.pairs = pairs.size(),
          .seconds_per_sample = bare_median(pairs, &BlockCost::seconds),
          .cpu_seconds_per_sample = bare_median(pairs, &BlockCost::cpu_seconds),
          .time = share_of(pairs, &BlockCost::seconds, options.confidence),
          .cpu = share_of(pairs, &BlockCost::cpu_seconds, options.confidence)};
}

}  // namespace cachebisect::probe_cost
