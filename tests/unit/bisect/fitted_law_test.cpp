#include "cachebisect/bisect/costs/fitted_law.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;

namespace {

/// Five host stages, a step of 1 ms a batch of 8: 125 us a sample.
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

Report measured(const SimulatedChain& chain) {
  SimulatedReplayer replayer(chain);
  BisectOptions options;
  for (int k = 0; k <= chain.boundaries(); ++k) options.boundaries.push_back(k);
  return bisect(replayer, options);
}

/// Every boundary that the law speaks of clearly must be predicted to 1%.
void check_boundaries(const SimulatedChain& chain) {
  const Report report = measured(chain);
  const auto law = fit_law(report);
  REQUIRE(law.has_value());
  const SimulatedRing ring(chain);
  int checked = 0;
  for (int k = 0; k <= chain.boundaries(); ++k) {
    CAPTURE(k);
    CHECK(report.boundaries[static_cast<std::size_t>(k)].predicted_samples_per_second ==
          predict(*law, {}, k));
    if (law_margin(law_input(*law, {}, k)) < 1.1) continue;
    ++checked;
    CHECK(predict(*law, {}, k) * ring.seconds_per_sample(k) == doctest::Approx(1).epsilon(0.01));
  }
  CHECK(checked >= 2);
  CHECK(misfit(*law, report).ceiling < 0.01);
}

}  // namespace

TEST_CASE("the law of a chain bound by CPU work predicts every boundary") {
  for (const int workers : {0, 1, 2, 4}) {
    CAPTURE(workers);
    SimulatedChain chain = base_chain(workers);
    chain.stages[2].seconds = 300e-6 * std::max(1, workers);
    check_boundaries(chain);
    const auto law = fit_law(measured(chain));
    REQUIRE(law.has_value());
    const LawLimit found = limit(*law);
    CHECK(found.server == (workers == 0 ? Server::training_thread : Server::workers));
    CHECK(found.stage == "planted");
  }
}

TEST_CASE("the law of a chain that waits predicts every boundary") {
  for (const int workers : {0, 2, 4}) {
    CAPTURE(workers);
    SimulatedChain chain = base_chain(workers);
    chain.stages[2].kind = CostKind::wait;
    chain.stages[2].seconds = 300e-6 * std::max(1, workers);
    check_boundaries(chain);
  }
}

TEST_CASE("more workers than cores are bound by the CPU") {
  SimulatedChain chain = base_chain(4);
  chain.cores = 2;
  chain.stages[2].seconds = 600e-6;
  check_boundaries(chain);
  const auto law = fit_law(measured(chain));
  REQUIRE(law.has_value());
  CHECK(limit(*law).server == Server::cpu);
  CHECK(limit(*law).stage == "planted");
  // Twice the workers gain nothing; the stage for free leaves the step.
  CHECK(predict(*law, {.workers = 8}) == doctest::Approx(predict(*law)));
  const LawLimit freed = limit(*law, {.stages = {{.stage = 2, .factor = 0}}});
  CHECK(freed.server == Server::step);
  CHECK(freed.stage.empty());
  CHECK(freed.samples_per_second == doctest::Approx(8000).epsilon(0.01));
}

TEST_CASE("a copy is found with and without overlap") {
  for (const int prefetch : {0, 2}) {
    CAPTURE(prefetch);
    SimulatedChain chain = base_chain(2);
    chain.copy_prefetch = prefetch;
    chain.source_bytes = 40000;  // 400 us a sample
    check_boundaries(chain);
    const auto law = fit_law(measured(chain));
    REQUIRE(law.has_value());
    CHECK(limit(*law).server == Server::copy);
    CHECK(limit(*law).stage == "copy");
    CHECK(predict(*law, {.stages = {{.stage = 5, .factor = 0}}}) ==
          doctest::Approx(8000).epsilon(0.01));
  }
}

TEST_CASE("a step on the host is the training thread's") {
  SimulatedChain chain = base_chain(2);
  chain.device_is_host = true;
  chain.step_seconds = 0;
  chain.trainer_seconds = 2e-3;
  check_boundaries(chain);
  const auto law = fit_law(measured(chain));
  REQUIRE(law.has_value());
  CHECK(limit(*law).server == Server::training_thread);
  CHECK(limit(*law, {.step_factor = 0.01}).server == Server::workers);
}

TEST_CASE("without inline counters there is no law") {
  Report report = measured(base_chain(2));
  for (BlockRecord& block : report.blocks) block.result.stages.clear();
  CHECK_FALSE(fit_law(report).has_value());
}

TEST_CASE("one live block fits as well as all of them where nothing varies") {
  const Report report = measured(base_chain(2));
  const auto all = fit_law(report);
  REQUIRE(all.has_value());
  for (const BlockRecord& block : report.blocks) {
    if (!shows_live_costs(block)) continue;
    const auto one =
        fit_law(report, block, RoundRatios(report), find_sharing(report, RoundRatios(report)));
    REQUIRE(one.has_value());
    CHECK(predict(*one) == doctest::Approx(predict(*all)).epsilon(1e-6));
  }
}
