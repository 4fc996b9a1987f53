// Payoff, starvation and contention of drawn chains in virtual time, against long runs of the same
// ring without noise.
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

/// Samples/s over 400 steps, after half as many untimed ones.
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
  double slack = 0;  ///< by which a block may differ from the long run
  void count(const Estimate& estimate, double truth) {
    if (!estimate.interval) return;
    ++intervals;
    const Interval& found = *estimate.interval;
    held += found.low - slack <= truth && truth <= found.high + slack ? 1 : 0;
  }
};

struct Scores {
  Coverage payoffs;
  Coverage contention;
  Coverage starvation;
  int explained = 0;
  int best = 0;  ///< fix_first gains as much as any stage would, within 5%
};

void count(Scores& scores, const Report& report, const SimulatedChain& chain) {
  const SimulatedRing ring(chain);
  double best = 0;
  double first = 0;
  for (const StageReport& stage : report.stages) {
    const double rate = true_rate(ring, {.bypass = stage.index});
    scores.payoffs.count(stage.payoff, rate);
    best = std::max(best, rate);
    if (stage.name == report.verdict.fix_first) first = rate;
  }
  const double ceiling = true_rate(ring, {.boundary = chain.boundaries()});
  const double shadow = true_rate(ring, {.shadow = true});
  const double live = true_rate(ring, {});
  scores.contention.count(report.loss.contention, 1 - shadow / ceiling);
  scores.starvation.count(report.loss.starvation, (shadow - live) / ceiling);
  if (!report.next_samples_per_second) return;
  ++scores.explained;
  scores.best += first >= 0.95 * best ? 1 : 0;
}

Scores run(int chains, std::uint64_t first_seed, const DrawOptions& options) {
  Scores scores;
  for (int i = 0; i < chains; ++i) {
    const PlantedChain planted = draw(first_seed + static_cast<std::uint64_t>(i), options);
    SimulatedReplayer replayer(planted.chain, {.seed = planted.seed, .noise = {.white_cv = 0.01}});
    count(scores, bisect(replayer, {.seed = planted.seed}), planted.chain);
  }
  MESSAGE("payoffs " << scores.payoffs.held << " of " << scores.payoffs.intervals << ", contention "
                     << scores.contention.held << " of " << scores.contention.intervals
                     << ", starvation " << scores.starvation.held << " of "
                     << scores.starvation.intervals << ", best fixed first " << scores.best
                     << " of " << scores.explained);
  return scores;
}

void check(const Coverage& coverage, int min_intervals) {
  CHECK(coverage.intervals >= min_intervals);
  CHECK(coverage.held >= coverage.intervals * 97 / 100);
}

}  // namespace

TEST_CASE("payoff, starvation and contention of drawn chains hold the truth") {
  DrawOptions options;
  options.flat_share = 0;
  options.two_drops_share = 0.4;
  const Scores scores = run(120, 70001, options);
  check(scores.payoffs, 120);
  check(scores.contention, 100);
  check(scores.starvation, 100);
  CHECK(scores.explained >= 100);
  CHECK(scores.best >= scores.explained * 95 / 100);
}

TEST_CASE("contention is found between a step on the CPU and workers that want all cores") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 0.02e-3},
                  {.name = "decode", .category = Category::decode, .seconds = 0.6e-3}};
  chain.batch_size = 4;
  chain.workers = 3;
  chain.cores = 2;
  chain.step_seconds = 0;
  chain.trainer_seconds = 0.4e-3;
  chain.device_is_host = true;
  Scores scores;
  // Time slices are longer than a step, so a block of fifteen steps differs from a long run.
  scores.contention.slack = 0.015;
  scores.starvation.slack = 0.015;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedReplayer replayer(chain, {.seed = seed, .noise = {.white_cv = 0.01}});
    const Report report = bisect(replayer, {.seed = seed});
    count(scores, report, chain);
    CHECK(report.loss.contention.value > 0.4);
    CHECK(report.loss.starvation.value > 0.15);
  }
  check(scores.contention, 15);
  check(scores.starvation, 15);
}
