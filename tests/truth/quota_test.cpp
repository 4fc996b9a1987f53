// A container's CPU quota: a period that one arm has used up must not count for the next one.
#include <algorithm>

#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;

namespace {

constexpr std::uint64_t kRuns = 20;

SimulatedChain exhausting(int workers) {
  SimulatedChain chain;
  chain.cores = 4;
  chain.workers = workers;
  chain.step_seconds = 8 * 200e-6;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 20e-6},
      {.name = "decode", .category = Category::decode, .seconds = 500e-6},
      {.name = "crop", .category = Category::augment, .seconds = 150e-6},
      {.name = "flip", .category = Category::augment, .seconds = 100e-6}};
  return chain;
}

/// Seconds per sample in the long run: as without a quota, or what its CPUs need for the work.
double seconds_per_sample(const SimulatedRing& ring, int boundary, double quota_cpus) {
  constexpr int kSteps = 400;
  const RingRun run = ring.run({.boundary = boundary, .steps = kSteps});
  const double cpu = run.cpu_by.back() - run.cpu_by[kSteps / 2 - 1];
  const double samples = kSteps / 2 * static_cast<double>(ring.chain().batch_size);
  return std::max(ring.seconds_per_sample(boundary), cpu / samples / quota_cpus);
}

double true_drop(const SimulatedRing& ring, int stage, double quota_cpus) {
  return 1 - seconds_per_sample(ring, stage, quota_cpus) /
                 seconds_per_sample(ring, stage - 1, quota_cpus);
}

Report measure_within(const SimulatedChain& chain, double quota_cpus, std::uint64_t seed) {
  SimulatedOptions simulated;
  simulated.seed = seed;
  simulated.noise.white_cv = 0.005;
  simulated.quota.cpus = quota_cpus;
  SimulatedReplayer replayer(chain, simulated);
  BisectOptions options;
  options.seed = seed;
  options.explain = false;
  return bisect(replayer, options);
}

/// In each of kRuns runs decode is named, and of their intervals few miss the truth.
void check_verdicts(const SimulatedChain& chain, double quota_cpus) {
  const SimulatedRing ring(chain);
  int intervals = 0;
  int missed = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    CAPTURE(seed);
    const Report report = measure_within(chain, quota_cpus, seed);
    CAPTURE(report.verdict.text);
    CHECK(report.verdict.kind == VerdictKind::drop);
    CHECK(report.verdict.stage == "decode");
    for (std::size_t s = 0; s < report.stages.size(); ++s) {
      const auto& interval = report.stages[s].drop.interval;
      if (!interval) continue;
      const double truth = true_drop(ring, static_cast<int>(s) + 1, quota_cpus);
      ++intervals;
      missed += truth < interval->low || truth > interval->high ? 1 : 0;
    }
  }
  CHECK(intervals >= static_cast<int>(kRuns));
  CHECK(missed * 20 <= intervals);
}

}  // namespace

TEST_CASE("with a quota that runs out, intervals hold what whole periods yield") {
  for (const int workers : {0, 1, 2, 4}) {
    CAPTURE(workers);
    check_verdicts(exhausting(workers), 0.75);
  }
}

TEST_CASE("a quota that never runs out changes nothing") {
  const Report with = measure_within(exhausting(2), 3, 1);
  const Report without = measure_within(exhausting(2), 0, 1);
  CHECK(with.verdict.text == without.verdict.text);
  CHECK(with.blocks.size() == without.blocks.size());
  CHECK(with.timing.wall_seconds == doctest::Approx(without.timing.wall_seconds));
}

TEST_CASE("a quota that short blocks between cheaper ones never exhaust is followed too") {
  SimulatedChain chain = exhausting(1);
  chain.step_seconds = 8 * 600e-6;
  check_verdicts(chain, 0.9);
}
