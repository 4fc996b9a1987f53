#include "cachebisect/bisect/costs/remedy_forecast.hpp"

#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;

namespace {

/// The crop limits: 500 us a sample over one worker, beside a step of 125 us.
SimulatedChain starved_chain() {
  SimulatedChain chain;
  chain.cores = 4;
  chain.workers = 1;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 20e-6},
      {.name = "crop", .category = Category::augment, .seconds = 0.5e-3},
      {.name = "flip", .category = Category::augment, .seconds = 10e-6}};
  return chain;
}

Report measured(const SimulatedChain& chain) {
  SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.01}});
  return bisect(replayer, {.budget_seconds = 30});
}

double rate_of(const SimulatedChain& chain) {
  return 1 / SimulatedRing(chain).seconds_per_sample(0);
}

std::optional<double> predicted(Report report, const Remedy& remedy) {
  report.remedies = {remedy};
  predict_remedies(report);
  return report.remedies.front().predicted;
}

}  // namespace

TEST_CASE("a remedy's gain is that of the chain with the remedy in force") {
  const SimulatedChain chain = starved_chain();
  const Report report = measured(chain);
  REQUIRE_FALSE(report.remedies.empty());
  const Remedy& workers = report.remedies.front();
  REQUIRE(workers.id == "workers");
  REQUIRE(workers.predicted.has_value());
  SimulatedChain changed = chain;
  changed.workers = 4;
  CHECK(*workers.predicted == doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
  changed = chain;
  changed.stages[1].seconds = 0;
  const double freed = rate_of(changed) - rate_of(chain);
  for (const char* const id : {"prepare", "lock", "to_device"}) {
    CAPTURE(id);
    const auto gain = predicted(report, {.id = id, .stage = "crop"});
    REQUIRE(gain.has_value());
    CHECK(*gain == doctest::Approx(freed).epsilon(0.03));
  }
}

TEST_CASE("a copy made to overlap, or halved, gains what the changed chain gains") {
  SimulatedChain chain = starved_chain();
  chain.workers = 2;
  chain.stages[1].seconds = 20e-6;
  chain.copy_bytes_per_second = 1e8;
  chain.source_bytes = 10000;  // 100 us a sample
  chain.copy_prefetch = 0;
  const Report report = measured(chain);
  SimulatedChain changed = chain;
  changed.copy_prefetch = 2;
  const auto overlapped = predicted(report, {.id = "overlap_copy", .stage = "copy"});
  REQUIRE(overlapped.has_value());
  CHECK(*overlapped == doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
  changed = chain;
  changed.source_bytes = 5000;
  const auto halved = predicted(report, {.id = "half", .stage = "copy"});
  REQUIRE(halved.has_value());
  CHECK(*halved == doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
}

TEST_CASE("a remedy whose effect on costs is not known has no prediction") {
  const Report report = measured(starved_chain());
  for (const char* const id : {"storage", "order", "model", "batch_size", "half", "bucket"}) {
    CAPTURE(id);
    CHECK_FALSE(predicted(report, {.id = id, .stage = "crop"}).has_value());
  }
  CHECK_FALSE(predicted(report, {.id = "workers"}).has_value());
  CHECK_FALSE(predicted(report, {.id = "prepare", .stage = "unknown"}).has_value());
}
