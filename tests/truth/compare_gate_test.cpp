// The gate of `compare --run` in virtual time: on a recorded busy machine it never fires on a job
// against itself, and finds one that takes 10% longer. docs/understand/accuracy.md has the rates.
#include <string>

#include "bench/truth/noise_choice.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/compare/compare_reports.hpp"
#include "cachebisect/compare/gate.hpp"
#include "cachebisect/compare/paired_rounds.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::truth;

namespace {

SimulatedChain chain() {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 0},
                  {.name = "crop", .category = Category::augment, .seconds = 600e-6}};
  return chain;
}

struct Counts {
  int fired = 0;
  int passed = 0;
  double seconds = 0;  ///< of measuring, mean
};

/// The gate "live<-5%" against a job whose stage takes `crop_us`, so many times.
Counts run(const SimulatedNoise& noise, const std::string& crop_us, int times,
           std::uint64_t first_seed) {
  const Gate gate = parse_gate("live<-5%");
  const auto judged = [&gate](const LogRatio& ratio) {
    ComparedFigure live;
    live.id = "live";
    live.change = change_of(ratio);
    return judge_gate(gate, {live}, {}).outcome;
  };
  Counts counts;
  for (int i = 0; i < times; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    SimulatedReplayer replayer(chain(), {.seed = seed, .noise = noise});
    const ChainDescription job = replayer.describe();
    const Arm other{.kind = ArmKind::live, .overrides = {{"stages.crop.us", crop_us}}};
    PairedOptions options;
    options.seed = seed;
    options.enough = [&](const LogRatio& ratio) { return judged(ratio) != GateOutcome::undecided; };
    const PairedRounds rounds = measure_pairs(replayer, {Arm{}, job}, {other, job}, options);
    const GateOutcome outcome = judged(paired_rate_ratio(rounds.table, options.confidence));
    counts.fired += outcome == GateOutcome::fired ? 1 : 0;
    counts.passed += outcome == GateOutcome::passed ? 1 : 0;
    counts.seconds += rounds.seconds / times;
  }
  return counts;
}

SimulatedNoise noise(const std::string& name, double cv) {
  return noise_by_name(name, cv, load_trace(CACHEBISECT_SOURCE_DIR "/tests/data/noise-trace.txt"));
}

void check(const SimulatedNoise& noise) {
  const Counts same = run(noise, "600", 100, 1);
  MESSAGE("A against A: fired " << same.fired << ", passed " << same.passed << " of 100, "
                                << same.seconds << " s");
  CHECK(same.fired == 0);
  const Counts slower = run(noise, "660", 60, 1001);
  MESSAGE("10% longer: fired " << slower.fired << " of 60, " << slower.seconds << " s");
  CHECK(slower.fired >= 57);
}

Report bisected(const SimulatedNoise& noise, double crop_seconds, std::uint64_t seed) {
  SimulatedChain job = chain();
  job.stages[1].seconds = crop_seconds;
  SimulatedReplayer replayer(job, {.seed = seed, .noise = noise});
  BisectOptions options;
  options.seed = seed;
  options.budget_seconds = 60;
  options.explain = false;
  return bisect(replayer, options);
}

/// The same gate on two reports, each of a session of its own.
Counts run_reports(const SimulatedNoise& noise, double crop_seconds, int times) {
  Counts counts;
  for (int i = 0; i < times; ++i) {
    const auto seed = static_cast<std::uint64_t>(i) + 1;
    const Report a = bisected(noise, 600e-6, seed);
    const Report b = bisected(noise, crop_seconds, seed + 5000);
    const Comparison result = compare({&a, "a"}, {&b, "b"}, {.gates = {"live<-5%"}});
    counts.fired += result.gates.at(0).outcome == GateOutcome::fired ? 1 : 0;
    counts.passed += result.gates.at(0).outcome == GateOutcome::passed ? 1 : 0;
  }
  return counts;
}

}  // namespace

TEST_CASE("the gate is right on a quiet machine") { check(noise("white", 0.02)); }

TEST_CASE("the gate is right in noise of 10% per block") { check(noise("white", 0.10)); }

TEST_CASE("the gate is right on a recorded busy machine") { check(noise("trace", 0.01)); }

TEST_CASE("the gate on two reports never fires on the same job, whatever the noise") {
  for (const SimulatedNoise& machine :
       {noise("white", 0.01), noise("white", 0.05), noise("trace", 0.01)}) {
    const Counts same = run_reports(machine, 600e-6, 100);
    const Counts slower = run_reports(machine, 660e-6, 40);
    MESSAGE("reports of A against A: fired " << same.fired << ", passed " << same.passed
                                             << " of 100; 10% longer: fired " << slower.fired
                                             << " of 40");
    CHECK(same.fired == 0);
  }
}
