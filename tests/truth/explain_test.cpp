// What a report says beyond its verdict, on drawn chains in virtual time: payoff, starvation and
// contention against long runs of the same ring without noise.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::selftest;

namespace {

/// Samples/s in the long run, after half as many untimed steps.
double true_rate(const SimulatedRing& ring, RingRequest request) {
  constexpr int kSteps = 400;
  request.steps = kSteps + kSteps / 2;
  const RingRun run = ring.run(request);
  const double seconds = run.step_ends.back() - run.step_ends[kSteps / 2 - 1];
  return kSteps * static_cast<double>(ring.chain().batch_size) / seconds;
}

struct Coverage {
  int intervals = 0;
  int held = 0;
  double slack = 0;  ///< that a block may differ from the long run by
  void count(const Estimate& estimate, double truth) {
    if (!estimate.interval) return;
    ++intervals;
    const Interval& found = *estimate.interval;
    held += found.low - slack <= truth && truth <= found.high + slack ? 1 : 0;
  }
};

struct Tally {
  Coverage payoffs;
  Coverage contention;
  Coverage starvation;
  int explained = 0;
  int best = 0;  ///< fix_first gives as much as any stage would, within 5%
};

void count(Tally& tally, const Report& report, const SimulatedChain& chain) {
  const SimulatedRing ring(chain);
  double best = 0;
  double first = 0;
  for (const StageReport& stage : report.stages) {
    const double rate = true_rate(ring, {.bypass = stage.index});
    tally.payoffs.count(stage.payoff, rate);
    best = std::max(best, rate);
    if (stage.name == report.verdict.fix_first) first = rate;
  }
  const double ceiling = true_rate(ring, {.boundary = chain.boundaries()});
  const double shadow = true_rate(ring, {.shadow = true});
  const double live = true_rate(ring, {});
  tally.contention.count(report.loss.contention, 1 - shadow / ceiling);
  tally.starvation.count(report.loss.starvation, (shadow - live) / ceiling);
  if (!report.next_samples_per_second) return;
  ++tally.explained;
  tally.best += first >= 0.95 * best ? 1 : 0;
}

Tally run(int chains, std::uint64_t first_seed, const DrawOptions& options) {
  Tally tally;
  for (int i = 0; i < chains; ++i) {
    const PlantedChain planted = draw(first_seed + static_cast<std::uint64_t>(i), options);
    SimulatedReplayer replayer(planted.chain, {.seed = planted.seed, .noise = {.white_cv = 0.01}});
    count(tally, bisect(replayer, {.seed = planted.seed}), planted.chain);
  }
  MESSAGE("payoffs " << tally.payoffs.held << " of " << tally.payoffs.intervals << ", contention "
                     << tally.contention.held << " of " << tally.contention.intervals
                     << ", starvation " << tally.starvation.held << " of "
                     << tally.starvation.intervals << ", best fixed first " << tally.best << " of "
                     << tally.explained);
  return tally;
}

void check(const Coverage& coverage, int least) {
  CHECK(coverage.intervals >= least);
  CHECK(coverage.held >= coverage.intervals * 97 / 100);
}

}  // namespace

TEST_CASE("payoff, starvation and contention of drawn chains") {
  DrawOptions options;
  options.flat_share = 0;
  options.two_drops_share = 0.4;
  const Tally tally = run(120, 70001, options);
  check(tally.payoffs, 120);
  check(tally.contention, 100);
  check(tally.starvation, 100);
  CHECK(tally.explained >= 100);
  CHECK(tally.best >= tally.explained * 95 / 100);
}

TEST_CASE("a step on the processor beside greedy workers: contention is found") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 0.02e-3},
                  {.name = "decode", .category = Category::decode, .seconds = 0.6e-3}};
  chain.batch_size = 4;
  chain.workers = 3;
  chain.cores = 2;
  chain.step_seconds = 0;
  chain.trainer_seconds = 0.4e-3;
  chain.device_is_host = true;
  Tally tally;
  // Cores change hands in slices that are longer than a step: fifteen steps are no long run.
  tally.contention.slack = 0.015;
  tally.starvation.slack = 0.015;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedReplayer replayer(chain, {.seed = seed, .noise = {.white_cv = 0.01}});
    const Report report = bisect(replayer, {.seed = seed});
    count(tally, report, chain);
    CHECK(report.loss.contention.value > 0.4);
    CHECK(report.loss.starvation.value > 0.15);
  }
  check(tally.contention, 15);
  check(tally.starvation, 15);
}
