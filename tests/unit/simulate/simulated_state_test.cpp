// When a simulated ring goes round for ever, and what that says of its pace.
#include <utility>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/simulate/cycle_search.hpp"
#include "cachebisect/simulate/event_ring.hpp"

using namespace cachebisect;

namespace {

/// Steps until a sequence is found to recur that has `tail` states of its own and then `cycle` that
/// come again and again, each off by up to `noise` seconds; and the length found.
std::pair<int, std::size_t> search(int tail, int cycle, double noise = 0) {
  RandomStream random({.seed = 5});
  CycleSearch search;
  for (int step = 0; step < 10000; ++step) {
    const int state = step < tail ? -step - 1 : (step - tail) % cycle;
    RingState& next = search.next();
    next.add_count(state / 3);
    for (int i = 0; i < 4; ++i) next.add_seconds(1e-3 * state + noise * random.uniform());
    if (const auto length = search.recurs(step)) return {step, *length};
  }
  return {0, 0};
}

/// Four workers and a training thread on two cores.
SimulatedChain crowded(RandomStream& random) {
  SimulatedChain chain;
  chain.workers = 4;
  chain.cores = 2;
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

double mean_step(const RingRun& run, std::size_t steps) {
  const auto& ends = run.step_ends;
  return (ends.back() - ends[ends.size() - 1 - steps]) / static_cast<double>(steps);
}

}  // namespace

TEST_CASE("a cycle is found with its own length, whatever came before it") {
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

TEST_CASE("a count that differs tells states apart") {
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

TEST_CASE("the cycle of a crowded ring is its pace in the long run, step by step") {
  RandomStream random({.seed = 9});
  int found = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const SimulatedRing ring(crowded(random));
    const RingRun cycle = run_to_cycle(ring, {.steps = 2000});
    if (cycle.cycle_steps == 0) continue;
    ++found;
    CAPTURE(trial);
    // Let go on, it repeats the steps of its last cycle, and then again.
    const std::size_t length = cycle.cycle_steps;
    const std::size_t seen = cycle.step_ends.size();
    REQUIRE(length < seen);
    const auto steps = static_cast<int>(seen + 2 * length);
    const RingRun longer = ring.run({.steps = steps});
    const double period = mean_step(cycle, length) * static_cast<double>(length);
    for (std::size_t i = 0; i < 2 * length; ++i) {
      const double repeated = longer.step_ends[seen + i] - longer.step_ends[seen + i - length];
      CHECK(repeated == doctest::Approx(period).epsilon(1e-6));
    }
    CHECK(ring.seconds_per_sample(0, 4000) * 8 ==
          doctest::Approx(mean_step(cycle, length)).epsilon(1e-6));
  }
  CHECK(found >= 35);
}
