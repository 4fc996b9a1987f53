// Plans against the chains that they are of, run on the other machine in virtual time.
#include "cachebisect/plan/plan.hpp"

#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include "support/torch_settings.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/plan/plan_writers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using plan::Machine;
using plan::make_plan;
using plan::Plan;
using plan::Row;

namespace {

/// Decoding and cropping limit: 500 us per sample on each of two cores, a step of 125 us.
SimulatedChain planned_chain() {
  SimulatedChain chain = starved_chain();
  chain.cores = 2;
  return chain;
}

Report measured_report(const SimulatedChain& chain) {
  return report_of(measure_chain(chain, {.budget_seconds = 30}));
}

/// What it would really do there.
double true_rate(SimulatedChain chain, const Row& row) {
  chain.workers = row.workers;
  chain.cores = static_cast<int>(row.machine.cores_each());
  chain.step_seconds /= row.machine.accelerator_speed;
  chain.trainer_seconds /= row.machine.core_speed;
  for (SimulatedStage& stage : chain.stages) {
    if (stage.kind == CostKind::cpu) stage.seconds /= row.machine.core_speed;
  }
  return rate_of(chain) * row.machine.accelerators;
}

}  // namespace

TEST_CASE("what is predicted for other machines is what the chain does there") {
  const SimulatedChain chain = planned_chain();
  const std::vector<Machine> machines{
      {.name = "same", .cores = 2},
      {.name = "one core", .cores = 1},
      {.name = "four", .cores = 4},
      {.name = "sixteen", .cores = 16},
      {.name = "faster cores", .cores = 2, .core_speed = 1.5},
      {.name = "slower cores", .cores = 4, .core_speed = 0.7},
      {.name = "fast accelerator", .cores = 8, .accelerator_speed = 2},
      {.name = "slow accelerator", .cores = 8, .accelerator_speed = 0.5},
      {.name = "two accelerators", .cores = 8, .accelerators = 2},
      {.name = "helped", .cores = 1, .auxiliary_cores = 3}};
  const Plan made = make_plan(measured_report(chain), machines);
  REQUIRE(made.rows.size() == machines.size());
  for (const Row& row : made.rows) {
    CAPTURE(row.machine.name);
    CAPTURE(row.workers);
    REQUIRE(row.rate.interval.has_value());
    const double truth = true_rate(chain, row);
    CHECK(*row.rate.value == doctest::Approx(truth).epsilon(0.05));
    CHECK(row.rate.interval->low <= truth);
    CHECK(truth <= row.rate.interval->high);
    CHECK(row.share() <= 1.02);
  }
}

TEST_CASE("a job in code is planned like one of a pipeline file") {
  const SimulatedChain chain = planned_chain();
  Measurements run = measure_chain(chain, {.budget_seconds = 30});
  run.chain.settings = torch_settings();
  const Plan made =
      make_plan(report_of(run), {{.name = "same", .cores = 2},
                                 {.name = "sixteen", .cores = 16},
                                 {.name = "fast accelerator", .cores = 2, .accelerator_speed = 2}});
  for (const Row& row : made.rows) {
    CAPTURE(row.machine.name);
    CHECK(*row.rate.value == doctest::Approx(true_rate(chain, row)).epsilon(0.05));
  }
  // More cores gain; a faster accelerator does not, where workers limit.
  CHECK(*made.rows[1].rate.value > 1.5 * *made.rows[0].rate.value);
  CHECK(*made.rows[2].rate.value == doctest::Approx(*made.rows[0].rate.value).epsilon(0.02));
}

TEST_CASE("what limits, what the ceiling needs, and which machine is enough") {
  const SimulatedChain chain = planned_chain();
  const Plan made =
      make_plan(measured_report(chain), {{.name = "few", .cores = 2, .price_per_hour = 1.0},
                                         {.name = "enough", .cores = 6, .price_per_hour = 2.0},
                                         {.name = "many", .cores = 32, .price_per_hour = 9.0}});
  CHECK(has(made.rows[0].limit, "crop"));
  CHECK(made.rows[2].limit == "the training step");
  // 560 us of computing per sample, for each 125 us.
  CHECK(made.rows[0].cores_for_ceiling == doctest::Approx(4.5).epsilon(0.15));
  CHECK(made.rows[0].ceiling == doctest::Approx(8000).epsilon(0.03));
  REQUIRE(made.smallest.has_value());
  CHECK(made.rows[*made.smallest].machine.name == "enough");
  REQUIRE(made.cheapest.has_value());
  CHECK(made.rows[*made.cheapest].machine.name == "enough");
  const double per_hour = *made.rows[1].rate.value * 3600;
  CHECK(*made.rows[1].price_per_million == doctest::Approx(2.0 / per_hour * 1e6));
}

TEST_CASE("storage that is too slow limits, and what it must give is said") {
  SimulatedChain chain = planned_chain();
  chain.source_bytes = 10'000;
  const Report report = measured_report(chain);
  const Plan made =
      make_plan(report, {{.name = "slow", .cores = 16, .storage_bytes_per_second = 2e7},
                         {.name = "fast", .cores = 16, .storage_bytes_per_second = 1e9}});
  const Row& slow = made.rows[0];
  REQUIRE(slow.storage_for_ceiling.has_value());
  CHECK(*slow.storage_for_ceiling == doctest::Approx(1e4 * slow.ceiling));
  CHECK(slow.limit == "storage");
  CHECK(*slow.rate.value == doctest::Approx(2000));
  CHECK(made.rows[1].limit == "the training step");
}

TEST_CASE("a job that loads in its training thread may stay so") {
  SimulatedChain chain = planned_chain();
  chain.workers = 0;
  chain.stages[2].seconds = 1e-6;
  chain.stages[1].seconds = 1e-6;
  const Plan made = make_plan(measured_report(chain), {{.name = "one", .cores = 1}});
  CHECK(made.rows[0].workers <= 1);
}

TEST_CASE("a plan is written with every figure, and hostile names do no harm") {
  const Plan made = make_plan(measured_report(planned_chain()),
                              {{.name = "a\x1b[31m\nb", .cores = 4, .price_per_hour = 2.0}});
  const std::string text = to_text(made, {.columns = 200});
  CHECK_FALSE(has(text, "\x1b[31m"));
  CHECK(has(text, "Price: of a million samples"));
  const auto json = nlohmann::json::parse(to_json(made));
  CHECK(json["machines"][0]["cores"] == 4);
  CHECK(json["machines"][0]["predicted"]["samples_per_second"].is_number());
  CHECK(json["cheapest"] == "a\x1b[31m\nb");
}

TEST_CASE("a report without a recording, or without costs, is refused with the remedy") {
  Report report = measured_report(planned_chain());
  const std::vector<Machine> machines{{.name = "a", .cores = 4}};
  auto empty = std::make_shared<Measurements>(*report.recording);
  empty->verdict.table = RoundTable();
  report.recording = empty;
  CHECK(has(usage_error([&] { static_cast<void>(make_plan(report, machines)); }), "run it again"));
  report.recording = nullptr;
  CHECK(has(usage_error([&] { static_cast<void>(make_plan(report, machines)); }), "no recording"));
}
