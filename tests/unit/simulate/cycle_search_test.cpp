#include "cachebisect/simulate/cycle_search.hpp"

#include <utility>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

using namespace cachebisect;

namespace {

/// Searches a sequence of `tail` distinct states followed by `cycle` states that repeat, each off
/// by up to `noise` seconds. Returns the steps searched and the length found, or {0, 0}.
std::pair<int, std::size_t> search(int tail, int cycle, double noise = 0) {
  RandomStream random({.seed = 5});
  CycleSearch search;
  for (int step = 0; step < 10000; ++step) {
    const int state = step < tail ? -step - 1 : (step - tail) % cycle;
    RingState& next = search.next();
    next.add_count(state / 3);
    for (int i = 0; i < 4; ++i) next.add_seconds(1e-3 * state + noise * random.uniform());
    if (const auto length = search.recurs(static_cast<std::size_t>(step), step))
      return {step, *length};
  }
  return {0, 0};
}

/// Four workers and a training thread on `cores` cores.
SimulatedChain draw(RandomStream& random, int cores) {
  SimulatedChain chain;
  chain.workers = 4;
  chain.cores = cores;
  chain.step_seconds = random.uniform(0.5e-3, 4e-3);
  chain.trainer_seconds = random.below(2) == 0 ? 0 : random.uniform(0.5e-3, 4e-3);
  for (const CostKind kind : {CostKind::cpu, CostKind::wait, CostKind::lock, CostKind::memory}) {
    chain.stages.push_back(
        {.name = to_string(kind), .kind = kind, .seconds = random.uniform(0.05e-3, 0.6e-3)});
    if (random.below(4) == 0) {
      chain.stages.back().jitter = {.kind = Jitter::Kind::lognormal, .cv = 0.3};
    }
  }
  return chain;
}

/// Two workers that complete their batches at the same moment.
SimulatedChain in_lockstep() {
  SimulatedChain chain;
  chain.stages = {{.name = "read"}};
  chain.workers = 2;
  chain.collate_seconds = 0.5e-3;
  return chain;
}

double mean_step(const RingRun& run, std::size_t steps) {
  const auto& ends = run.step_ends;
  return (ends.back() - ends[ends.size() - 1 - steps]) / static_cast<double>(steps);
}

/// Checks the cycle of a ring against a longer run. Returns false if none is found.
bool check_cycle(const SimulatedRing& ring) {
  const RingRun cycle = ring.run_to_cycle({.steps = 2000});
  if (cycle.cycle_steps == 0) return false;
  // The longer run repeats the steps of the cycle, twice.
  const std::size_t length = cycle.cycle_steps;
  const std::size_t seen = cycle.step_ends.size();
  REQUIRE(length < seen);
  const RingRun longer = ring.run({.steps = static_cast<int>(seen + 2 * length)});
  const double period = mean_step(cycle, length) * static_cast<double>(length);
  for (std::size_t i = 0; i < 2 * length; ++i) {
    const double repeated = longer.step_ends[seen + i] - longer.step_ends[seen + i - length];
    CHECK(repeated == doctest::Approx(period).epsilon(1e-6));
  }
  const auto batch = static_cast<double>(ring.chain().batch_size);
  CHECK(ring.seconds_per_sample(0, 4000) * batch ==
        doctest::Approx(mean_step(cycle, length)).epsilon(1e-6));
  return true;
}

}  // namespace

TEST_CASE("a cycle is found with its own length, whatever precedes it") {
  for (const int tail : {0, 1, 5, 100}) {
    for (const int cycle : {1, 2, 7, 64, 100}) {
      CAPTURE(tail);
      CAPTURE(cycle);
      const auto [steps, length] = search(tail, cycle);
      CHECK(length == static_cast<std::size_t>(cycle));
      CHECK(steps <= 4 * (tail + cycle));
    }
  }
}

TEST_CASE("states that differ by more than rounding are not the same") {
  CHECK(search(3, 7, 1e-12).second == 7);
  CHECK(search(3, 7, 1e-6).second == 0);
}

TEST_CASE("states with different counts are not the same") {
  RingState a;
  RingState b;
  a.add_count(1);
  b.add_count(2);
  CHECK_FALSE(a.equals(b, 1));
  a.add_future(-1);
  b.clear();
  b.add_count(1);
  b.add_future(-2);
  CHECK(a.equals(b, 0));  // neither lies ahead
}

TEST_CASE("a ring repeats its cycle step by step, with enough cores or too few") {
  RandomStream random({.seed = 9});
  int found = 0;
  for (int trial = 0; trial < 80; ++trial) {
    CAPTURE(trial);
    const int cores = trial < 40 ? 2 : 8;
    found += check_cycle(SimulatedRing(draw(random, cores))) ? 1 : 0;
  }
  CHECK(found >= 70);
}

TEST_CASE("steps that are submitted at the same moment are counted one by one") {
  CHECK(check_cycle(SimulatedRing(in_lockstep())));
}
