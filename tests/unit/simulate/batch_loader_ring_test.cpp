// LoaderKind::batch in virtual time, against times computed by hand.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/simulate/simulated_overrides.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

using namespace cachebisect;

namespace {

constexpr double kMs = 1e-3;

/// Batches of 2 samples that wait 1 ms each; steps of 0.1 ms; copies are free.
SimulatedChain waiting_chain(int workers, LoaderKind loader) {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .kind = CostKind::wait, .seconds = kMs}};
  chain.batch_size = 2;
  chain.workers = workers;
  chain.loader = loader;
  chain.step_seconds = 0.1 * kMs;
  return chain;
}

void check_ends(const SimulatedChain& chain, const std::vector<double>& milliseconds) {
  const auto ends = SimulatedRing(chain).run({.steps = static_cast<int>(milliseconds.size())});
  for (std::size_t i = 0; i < milliseconds.size(); ++i) {
    CAPTURE(i);
    CHECK(ends.step_ends.at(i) == doctest::Approx(milliseconds[i] * kMs));
  }
}

/// When steps end, by the rules alone: worker b mod W loads batch b after its batch before and once
/// the slot is free; batches are taken in order, by a device with three buffers whose copies are
/// free.
std::vector<double> ends_by_the_rules(const SimulatedChain& chain, int steps) {
  const StageCosts costs(chain);
  const auto workers = static_cast<std::size_t>(chain.workers);
  const std::size_t slots = workers + static_cast<std::size_t>(chain.ring_prefetch) + 1;
  constexpr std::size_t kBuffers = 3;
  std::vector<double> loaded;
  std::vector<double> taken;
  std::vector<double> ends;
  for (std::size_t b = 0; b < static_cast<std::size_t>(steps); ++b) {
    double time = b < workers ? 0 : loaded[b - workers];
    if (b >= slots) time = std::max(time, taken[b - slots]);
    for (std::int64_t row = 0; row < chain.batch_size; ++row) {
      time += costs.stage_seconds(0, {}, static_cast<std::int64_t>(b) * chain.batch_size + row);
    }
    loaded.push_back(time);
    if (b > 0) time = std::max(time, taken.back());
    if (b >= kBuffers) time = std::max(time, ends[b - kBuffers]);
    taken.push_back(time);
    ends.push_back(std::max(time, b > 0 ? ends.back() : 0) + chain.step_seconds);
  }
  return ends;
}

SimulatedChain jittered(int workers, int prefetch) {
  SimulatedChain chain = waiting_chain(workers, LoaderKind::batch);
  chain.stages[0].jitter = {.kind = Jitter::Kind::pareto, .cv = 1};
  chain.ring_prefetch = prefetch;
  chain.step_seconds = 2 * kMs / workers;  // as long as loading a batch takes, on average
  return chain;
}

}  // namespace

TEST_CASE("two workers that load whole batches finish them in pairs") {
  check_ends(waiting_chain(2, LoaderKind::batch), {2.1, 2.2, 4.1, 4.2, 6.1, 6.2});
  check_ends(waiting_chain(2, LoaderKind::sample), {1.1, 2.1, 3.1, 4.1, 5.1, 6.1});
}

TEST_CASE("a worker waits for its own slot while others load") {
  // Slots for batches 0 to 2. Batch 3 lies in the slot of batch 0, whose step ends at 7 ms.
  SimulatedChain chain = waiting_chain(2, LoaderKind::batch);
  chain.ring_prefetch = 0;
  chain.device_is_host = true;
  chain.trainer_seconds = 5 * kMs;
  chain.step_seconds = 0;
  check_ends(chain, {7, 12, 17, 22});
  chain.trainer_seconds = 0.5 * kMs;
  // Batch 1 is taken when step 0 ends; batch 3 begins then, and batch 2 at 2 ms.
  check_ends(chain, {2.5, 3, 4.5, 5, 6.5, 7});
}

TEST_CASE("slow samples hold back every batch after their own, exactly by the rules") {
  for (const int workers : {1, 2, 3, 8}) {
    for (const int prefetch : {0, 2, 8}) {
      CAPTURE(workers);
      CAPTURE(prefetch);
      SimulatedChain chain = jittered(workers, prefetch);
      chain.cores = workers;
      const auto expected = ends_by_the_rules(chain, 200);
      const auto ends = SimulatedRing(chain).run({.steps = 200}).step_ends;
      REQUIRE(ends.size() == expected.size());
      for (std::size_t i = 0; i < ends.size(); ++i) {
        REQUIRE(ends[i] == doctest::Approx(expected[i]).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("varying costs lose more with a batch per worker than with shared batches") {
  SimulatedChain own = jittered(4, 2);
  SimulatedChain shared = own;
  shared.loader = LoaderKind::sample;
  CHECK(SimulatedRing(own).seconds_per_sample(0) >
        1.03 * SimulatedRing(shared).seconds_per_sample(0));
}

TEST_CASE("with constant costs the law holds for up to 64 workers and any prefetch") {
  for (const int workers : {2, 8, 64}) {
    for (const int prefetch : {0, 2, 64}) {
      CAPTURE(workers);
      CAPTURE(prefetch);
      SimulatedChain chain = waiting_chain(workers, LoaderKind::batch);
      chain.ring_prefetch = prefetch;
      chain.step_seconds = 0.5 * 2 * kMs / workers;
      CHECK(SimulatedRing(chain).seconds_per_sample(0) == doctest::Approx(kMs / workers));
      chain.step_seconds = 2 * 2 * kMs / workers;
      CHECK(SimulatedRing(chain).seconds_per_sample(0) == doctest::Approx(2 * kMs / workers));
    }
  }
}

TEST_CASE("a run falls into a cycle of whole groups") {
  const SimulatedRing ring(waiting_chain(4, LoaderKind::batch));
  const RingRun run = ring.run_to_cycle({.steps = 1000});
  CHECK(run.cycle_steps > 0);
  CHECK(run.cycle_steps % 4 == 0);
}

TEST_CASE("the loader is an override, as in a pipeline file") {
  const SimulatedChain chain = waiting_chain(2, LoaderKind::sample);
  CHECK(with_overrides(chain, {{"loader", "\"batch\""}})->loader == LoaderKind::batch);
  CHECK(with_overrides(chain, {{"loader", "batch"}})->loader == LoaderKind::batch);
  CHECK_FALSE(with_overrides(chain, {{"loader", "\"both\""}}).has_value());
  CHECK_FALSE(with_overrides(chain, {{"loader", "\""}}).has_value());
  CHECK(SimulatedReplayer(waiting_chain(2, LoaderKind::batch)).describe().loader ==
        LoaderKind::batch);
}
