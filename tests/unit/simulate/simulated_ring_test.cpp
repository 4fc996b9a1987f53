#include "cachebisect/simulate/simulated_ring.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/costs/demands.hpp"

using namespace cachebisect;

namespace {

constexpr double kBandwidth = 1e9;

/// A drawn chain with at most one stage of each kind.
SimulatedChain draw(RandomStream& random) {
  SimulatedChain chain;
  chain.batch_size = static_cast<std::int64_t>(4 + random.below(13));
  chain.workers = std::array{0, 1, 2, 4}[random.below(4)];
  chain.cores = random.below(2) == 0 ? 2 : 8;
  chain.step_seconds = random.uniform(0.5e-3, 5e-3);
  chain.copy_bytes_per_second = kBandwidth;
  chain.copy_prefetch = static_cast<int>(random.below(3));
  const double scale = chain.step_seconds / static_cast<double>(chain.batch_size);
  chain.stages.push_back({.name = "read", .kind = CostKind::cpu, .seconds = 0});
  for (const CostKind kind : {CostKind::cpu, CostKind::wait, CostKind::lock, CostKind::memory}) {
    chain.stages.push_back(
        {.name = to_string(kind), .kind = kind, .seconds = scale * random.uniform(0, 2)});
  }
  chain.stages.push_back({.name = "payload",
                          .kind = CostKind::payload,
                          .bytes = kBandwidth * scale * random.uniform(0, 1.5)});
  return chain;
}

Demands law(const SimulatedChain& chain, int boundary) {
  const auto batch = static_cast<double>(chain.batch_size);
  Demands input;
  input.workers = chain.workers;
  input.cores = chain.cores;
  input.step_seconds = chain.step_seconds / batch;
  if (boundary < chain.boundaries()) input.copy_seconds = chain.copy_seconds() / batch;
  input.copy_overlaps = chain.copy_overlaps();
  for (auto k = static_cast<std::size_t>(boundary); k < chain.stages.size(); ++k) {
    const auto& stage = chain.stages[k];
    input.live_seconds.push_back(stage.seconds);
    const bool memory = stage.kind == CostKind::memory;
    if (memory) input.memory_seconds = stage.seconds;
    if (memory || stage.kind == CostKind::cpu) input.cpu_seconds += stage.seconds;
    if (stage.kind == CostKind::lock) input.serial_seconds = stage.seconds;
  }
  return input;
}

/// Workers with batches of their own that take turns on the cores may stream at the same time in
/// every cycle; they keep their cores while they wait for each other.
bool may_lock_step(const SimulatedChain& chain, const Demands& demands) {
  return chain.loader == LoaderKind::batch && chain.workers > chain.cores &&
         demands.memory_seconds > 0;
}

}  // namespace

TEST_CASE("the ring follows the law with both loaders if one server is clearly the slowest") {
  RandomStream random({.seed = 21});
  int compared = 0;
  double worst = 0;
  for (int trial = 0; trial < 300; ++trial) {
    SimulatedChain chain = draw(random);
    for (const LoaderKind loader : kLoaderKinds) {
      chain.loader = loader;
      const SimulatedRing ring(chain);
      for (int boundary = 0; boundary <= chain.boundaries(); ++boundary) {
        const Demands input = law(chain, boundary);
        if (law_margin(input) < 1.3 || may_lock_step(chain, input)) continue;
        const double predicted = predicted_seconds_per_sample(input);
        worst = std::max(worst, std::abs(ring.seconds_per_sample(boundary) / predicted - 1));
        ++compared;
      }
    }
  }
  CHECK(compared > 1600);
  CHECK(worst < 0.02);
}

TEST_CASE("a blocking copy and a busy trainer add up") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .kind = CostKind::payload, .bytes = 1e6}};
  chain.batch_size = 4;
  chain.step_seconds = 1e-3;
  chain.trainer_seconds = 2e-3;
  chain.copy_bytes_per_second = 1e9;  // 4 ms per batch
  chain.copy_prefetch = 0;
  chain.copy_non_blocking = false;
  const SimulatedRing ring(chain);
  CHECK(ring.seconds_per_sample(0) * 4 == doctest::Approx(6e-3).epsilon(0.01));
  CHECK(ring.seconds_per_sample(3) * 4 == doctest::Approx(2e-3).epsilon(0.01));
}

TEST_CASE("four workers on two cores are no faster than two") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .kind = CostKind::cpu, .seconds = 1e-3}};
  chain.workers = 4;
  chain.cores = 2;
  const SimulatedRing ring(chain);
  CHECK(ring.seconds_per_sample(0) == doctest::Approx(0.5e-3).epsilon(0.02));
}

TEST_CASE("jittered costs average to their mean") {
  SimulatedChain chain;
  chain.stages = {{.name = "read",
                   .kind = CostKind::wait,
                   .seconds = 1e-3,
                   .jitter = {.kind = Jitter::Kind::lognormal, .cv = 0.5}}};
  chain.workers = 1;
  chain.step_seconds = 1e-4;
  CHECK(SimulatedRing(chain).seconds_per_sample(0) == doctest::Approx(1e-3).epsilon(0.02));
}

TEST_CASE("threads that want more cores than there are share them equally") {
  SimulatedChain chain;
  chain.stages = {{.name = "work", .kind = CostKind::cpu, .seconds = 1e-3}};
  chain.workers = 4;
  chain.step_seconds = 1e-6;
  for (const int cores : {1, 2, 3, 4}) {
    CAPTURE(cores);
    chain.cores = cores;
    CHECK(SimulatedRing(chain).seconds_per_sample(0) ==
          doctest::Approx(1e-3 / cores).epsilon(1e-3));
  }
}

TEST_CASE("hours of crowded virtual time do not stall the clock") {
  SimulatedChain chain;
  chain.stages = {{.name = "work",
                   .kind = CostKind::cpu,
                   .seconds = 0.7,
                   .jitter = {.kind = Jitter::Kind::lognormal, .cv = 0.3}}};
  chain.workers = 4;
  chain.step_seconds = 0.1;
  chain.trainer_seconds = 1.1;
  // 5.6 s of work and 1.1 s of training per batch, on two cores.
  CHECK(SimulatedRing(chain).seconds_per_sample(0) == doctest::Approx(6.7 / 16).epsilon(0.01));
}

TEST_CASE("threads that stream take turns at the memory bandwidth, and no others are slowed") {
  SimulatedChain chain;
  chain.stages = {{.name = "copy", .kind = CostKind::memory, .seconds = 1e-3}};
  chain.step_seconds = 1e-6;
  for (const int workers : {1, 2, 4}) {
    CAPTURE(workers);
    chain.workers = workers;
    chain.cores = 8;
    CHECK(SimulatedRing(chain).seconds_per_sample(0) == doctest::Approx(1e-3));
  }
  // One worker streams 1 ms; in the same time the others compute.
  chain.stages.push_back({.name = "decode", .kind = CostKind::cpu, .seconds = 7e-3});
  const RingRun run = SimulatedRing(chain).run({.steps = 64});
  const StageCounters& decode = run.stages[1];
  CHECK(decode.busy_seconds / static_cast<double>(decode.samples) ==
        doctest::Approx(7e-3).epsilon(0.02));
}

TEST_CASE("each stage has a lock of its own, as synthetic.lock has") {
  SimulatedChain chain;
  chain.stages = {{.name = "first", .kind = CostKind::lock, .seconds = 2e-3},
                  {.name = "second", .kind = CostKind::lock, .seconds = 3e-3}};
  chain.step_seconds = 1e-6;
  chain.cores = 8;
  chain.workers = 1;
  CHECK(SimulatedRing(chain).seconds_per_sample(0) == doctest::Approx(5e-3).epsilon(0.01));
  for (const int workers : {2, 4}) {
    CAPTURE(workers);
    chain.workers = workers;
    CHECK(SimulatedRing(chain).seconds_per_sample(0) == doctest::Approx(3e-3).epsilon(0.01));
    CHECK(SimulatedRing(chain).seconds_per_sample(1) == doctest::Approx(3e-3).epsilon(0.01));
  }
}

TEST_CASE("chains that cannot run are refused") {
  SimulatedChain chain;
  CHECK_THROWS_AS(SimulatedRing{chain}, Error);
  chain.stages = {{.name = "read"}};
  chain.step_seconds = 0;
  CHECK_THROWS_AS(SimulatedRing{chain}, Error);
}

TEST_CASE("a factor of a stage multiplies its seconds, sample by sample") {
  SimulatedChain chain;
  chain.stages = {{.name = "read"},
                  {.name = "rare", .kind = CostKind::wait, .seconds = 1e-3, .factor = [](auto i) {
                     return i % 10 == 3 ? 10.0 : 0.0;
                   }}};
  chain.batch_size = 10;
  chain.step_seconds = 1e-4;
  for (const int workers : {0, 1}) {
    chain.workers = workers;
    const RingRun run = SimulatedRing(chain).run_to_cycle({.steps = 50});
    CHECK(run.cycle_steps == 0);
    REQUIRE(run.step_ends.size() == 50);
    CHECK(run.step_ends.back() - run.step_ends.front() == doctest::Approx(49 * 10e-3));
    // Nine of ten samples are free: the first batch waits for its fourth sample alone.
    CHECK(run.step_ends.front() == doctest::Approx(10e-3 + 1e-4));
  }
}
