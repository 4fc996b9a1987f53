#include "cachebisect/simulate/simulated_ring.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/costs/demands.hpp"

using namespace cachebisect;

namespace {

constexpr double kBandwidth = 1e9;

/// A chain of three stages drawn by seed; at most one kind of each shared server.
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
  for (const CostKind kind : {CostKind::cpu, CostKind::wait, CostKind::lock}) {
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
    if (stage.kind == CostKind::cpu) input.cpu_seconds += stage.seconds;
    if (stage.kind == CostKind::lock) input.serial_seconds = stage.seconds;
  }
  return input;
}

}  // namespace

TEST_CASE("the ring keeps the law where one server is clearly the slowest") {
  RandomStream random({.seed = 21});
  int compared = 0;
  double worst = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const SimulatedChain chain = draw(random);
    const SimulatedRing ring(chain);
    for (int boundary = 0; boundary <= chain.boundaries(); ++boundary) {
      const Demands input = law(chain, boundary);
      if (law_margin(input) < 1.3) continue;
      const double predicted = predicted_seconds_per_sample(input);
      worst = std::max(worst, std::abs(ring.seconds_per_sample(boundary) / predicted - 1));
      ++compared;
    }
  }
  CHECK(compared > 800);
  CHECK(worst < 0.02);
}

TEST_CASE("a blocking copy and a busy trainer add up") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .kind = CostKind::payload, .bytes = 1e6}};
  chain.batch_size = 4;
  chain.step_seconds = 1e-3;
  chain.trainer_seconds = 2e-3;
  chain.copy_bytes_per_second = 1e9;  // 4 ms a batch
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

TEST_CASE("jittered costs average to the law's") {
  SimulatedChain chain;
  chain.stages = {{.name = "read",
                   .kind = CostKind::wait,
                   .seconds = 1e-3,
                   .jitter = {.kind = Jitter::Kind::lognormal, .cv = 0.5}}};
  chain.workers = 1;
  chain.step_seconds = 1e-4;
  CHECK(SimulatedRing(chain).seconds_per_sample(0) == doctest::Approx(1e-3).epsilon(0.02));
}

TEST_CASE("chains that cannot run are refused") {
  SimulatedChain chain;
  CHECK_THROWS_AS(SimulatedRing{chain}, Error);
  chain.stages = {{.name = "read"}};
  chain.step_seconds = 0;
  CHECK_THROWS_AS(SimulatedRing{chain}, Error);
}
