#include "cachebisect/bisect/costs/cost_model.hpp"

#include <cmath>

#include "support/measured.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/costs/fit.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

using namespace cachebisect;

namespace {

/// Five host stages, and a step of 1 ms per batch of 8: 125 us per sample.
SimulatedChain base_chain(int workers) {
  SimulatedChain chain;
  chain.workers = workers;
  chain.cores = 4;
  chain.step_seconds = 1e-3;
  chain.copy_bytes_per_second = 1e8;
  chain.source_bytes = 1000;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 10e-6},
      {.name = "decode", .category = Category::decode, .seconds = 20e-6},
      {.name = "planted", .category = Category::augment, .seconds = 15e-6},
      {.name = "flip", .category = Category::augment, .seconds = 5e-6}};
  return chain;
}

Measurements measure_all(const SimulatedChain& chain) {
  BisectOptions options;
  for (int k = 0; k <= chain.boundaries(); ++k) options.boundaries.push_back(k);
  return test::measure_chain(chain, options, 0);
}

std::optional<CostModel> fit(const Measurements& measured) {
  return CostFit(measured, RoundRatios(measured)).fit();
}

/// Every boundary with one clear limit must be predicted to 1%.
void check_boundaries_of(const SimulatedChain& chain) {
  const Measurements measured = measure_all(chain);
  const Report report = test::report_of(measured);
  const auto costs = fit(measured);
  REQUIRE(costs.has_value());
  const SimulatedRing ring(chain);
  int checked = 0;
  for (int k = 0; k <= chain.boundaries(); ++k) {
    CAPTURE(k);
    CHECK(report.boundaries[static_cast<std::size_t>(k)].predicted_samples_per_second ==
          predict(*costs, {}, k));
    if (law_margin(demands_of(*costs, {}, k)) < 1.1) continue;
    ++checked;
    CHECK(predict(*costs, {}, k) * ring.seconds_per_sample(k) == doctest::Approx(1).epsilon(0.01));
  }
  CHECK(checked >= 2);
  CHECK(misfit_of(*costs, RoundRatios(measured).at_mean_pace()).ceiling < 0.01);
}

void check_boundaries(SimulatedChain chain) {
  for (const LoaderKind loader : kLoaderKinds) {
    CAPTURE(to_string(loader));
    chain.loader = loader;
    check_boundaries_of(chain);
  }
}

/// As if the chain had run on a machine with these CPUs, by affinity and quota.
Measurements on_machine(Measurements measured, double cpus, double cores) {
  measured.chain.usable_cpus.reset();
  measured.machine.usable_cpus = cpus;
  measured.machine.usable_cores = cores;
  return measured;
}

}  // namespace

TEST_CASE("the cost model of a CPU-bound chain predicts every boundary") {
  for (const int workers : {0, 1, 2, 4}) {
    CAPTURE(workers);
    SimulatedChain chain = base_chain(workers);
    chain.stages[2].seconds = 300e-6 * std::max(1, workers);
    check_boundaries(chain);
    const auto costs = fit(measure_all(chain));
    REQUIRE(costs.has_value());
    const Limit found = limit_of(*costs);
    CHECK(found.server == (workers == 0 ? Server::training_thread : Server::workers));
    CHECK(found.stage == "planted");
  }
}

TEST_CASE("the cost model of a chain that waits predicts every boundary") {
  for (const int workers : {0, 2, 4}) {
    CAPTURE(workers);
    SimulatedChain chain = base_chain(workers);
    chain.stages[2].kind = CostKind::wait;
    chain.stages[2].seconds = 300e-6 * std::max(1, workers);
    check_boundaries(chain);
  }
}

TEST_CASE("more workers than cores are limited by the CPU") {
  SimulatedChain chain = base_chain(4);
  chain.cores = 2;
  chain.stages[2].seconds = 600e-6;
  check_boundaries(chain);
  const auto costs = fit(measure_all(chain));
  REQUIRE(costs.has_value());
  CHECK(limit_of(*costs).server == Server::cpu);
  CHECK(limit_of(*costs).stage == "planted");
  // Twice the workers gain nothing; without the stage, the step limits.
  CHECK(predict(*costs, {.workers = 8}) == doctest::Approx(predict(*costs)));
  const Limit freed = limit_of(*costs, {.stages = {{.stage = 2, .factor = 0}}});
  CHECK(freed.server == Server::step);
  CHECK(freed.stage.empty());
  CHECK(freed.samples_per_second == doctest::Approx(8000).epsilon(0.01));
}

TEST_CASE("a copy that limits is found with and without overlap") {
  for (const int prefetch : {0, 2}) {
    CAPTURE(prefetch);
    SimulatedChain chain = base_chain(2);
    chain.copy_prefetch = prefetch;
    chain.source_bytes = 40000;  // 400 us per sample
    check_boundaries(chain);
    const auto costs = fit(measure_all(chain));
    REQUIRE(costs.has_value());
    CHECK(limit_of(*costs).server == Server::copy);
    CHECK(limit_of(*costs).stage == "copy");
    CHECK(predict(*costs, {.stages = {{.stage = 5, .factor = 0}}}) ==
          doctest::Approx(8000).epsilon(0.01));
  }
}

TEST_CASE("a step on the host occupies the training thread") {
  SimulatedChain chain = base_chain(2);
  chain.device_is_host = true;
  chain.step_seconds = 0;
  chain.trainer_seconds = 2e-3;
  check_boundaries(chain);
  const auto costs = fit(measure_all(chain));
  REQUIRE(costs.has_value());
  CHECK(limit_of(*costs).server == Server::training_thread);
  CHECK(limit_of(*costs, {.step_factor = 0.01}).server == Server::workers);
}

TEST_CASE("hyper-threads are no cores in the law, unless a replay kept them busy") {
  SimulatedChain chain = base_chain(4);
  chain.cores = 8;
  const Measurements idle = measure_all(chain);
  CHECK(fit(on_machine(idle, 8, 4))->cores == 4);
  CHECK(fit(on_machine(idle, 8, 8))->cores == 8);
  chain.workers = 8;
  chain.stages[2].seconds = 2400e-6;
  const auto busy = fit(on_machine(measure_all(chain), 8, 4));
  CHECK(busy->cores == doctest::Approx(8).epsilon(0.05));
  CHECK(busy->cores <= 8);
}

TEST_CASE("without inline counters there is no cost model") {
  Measurements measured = measure_all(base_chain(2));
  for (BlockRecord& block : measured.blocks) block.result.stages.clear();
  CHECK_FALSE(fit(measured).has_value());
}

TEST_CASE("one live block fits as well as all of them if nothing varies") {
  const Measurements measured = measure_all(base_chain(2));
  const RoundRatios ratios(measured);
  const CostFit fit(measured, ratios);
  const auto all = fit.fit();
  REQUIRE(all.has_value());
  for (const BlockRecord& block : measured.blocks) {
    if (!block.shows_live() || !block.has_counters()) continue;
    const auto one = fit.fit_to(block);
    REQUIRE(one.has_value());
    CHECK(predict(*one) == doctest::Approx(predict(*all)).epsilon(1e-6));
  }
}

TEST_CASE("blocks served from a part of the cache are no evidence of costs") {
  const Measurements measured = measure_all(base_chain(2));
  Measurements other = measured;
  for (int boundary = 1; boundary < measured.stages(); ++boundary) {
    const Arm part{.boundary = boundary, .cache_samples = 8};
    BlockRecord wild{.arm = part, .result = measured.blocks.back().result};
    for (StageCounters& counters : wild.result.stages) counters.busy_seconds *= 100;
    other.blocks.push_back(wild);
  }
  CHECK(predict(*fit(other)) == predict(*fit(measured)));
}

TEST_CASE(
    "pinning has a thread of its own, and its Python runs in turns with the training thread") {
  Measurements measured = measure_all(base_chain(4));
  measured.chain.stages[2].category = Category::pin;
  for (BlockRecord& record : measured.blocks) {
    if (record.result.stages.size() <= 2) continue;
    StageCounters& counters = record.result.stages[2];
    counters.serial_seconds = counters.busy_seconds / 4;
  }
  const auto costs = fit(measured);
  REQUIRE(costs.has_value());
  const StageCost& pin = costs->stages[2];
  CHECK(pin.serial_seconds > 0);
  CHECK(pin.trainer_seconds == doctest::Approx(pin.serial_seconds / 4));
  CHECK(pin.worker_seconds == 0);
}

TEST_CASE("on another machine, what computes is scaled by its cores, what waits is not") {
  CostModel costs{.workers = 1, .cores = 4, .step_seconds = 1e-5};
  costs.stages = {{.name = "read", .worker_seconds = 2e-4, .cpu_seconds = 0},
                  {.name = "crop", .worker_seconds = 1.5e-4, .cpu_seconds = 1.5e-4}};
  CHECK(limit_of(costs).stage == "read");
  const CostChanges slower{.machine = OtherMachine{.cores = 4, .core_speed = 0.5}};
  CHECK(limit_of(costs, slower).stage == "crop");
  CHECK(predict(costs, slower) == doctest::Approx(1 / 5e-4));
  const CostChanges fast_device{.machine = OtherMachine{.cores = 4, .device_speed = 10}};
  CHECK(predict(costs, fast_device) == doctest::Approx(predict(costs)));
}
