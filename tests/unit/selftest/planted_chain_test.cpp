#include "cachebisect/selftest/planted_chain.hpp"

#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/selftest/score.hpp"
#include "cachebisect/selftest/selftest.hpp"

using namespace cachebisect;
using namespace cachebisect::selftest;

namespace {

/// Four workers on two cores; each sample waits and computes.
SimulatedChain chain(double wait_seconds, double cpu_seconds) {
  SimulatedChain result;
  result.stages = {{.name = "read", .kind = CostKind::payload, .bytes = 64},
                   {.name = "wait", .kind = CostKind::wait, .seconds = wait_seconds},
                   {.name = "cpu", .kind = CostKind::cpu, .seconds = cpu_seconds}};
  result.workers = 4;
  result.cores = 2;
  result.step_seconds = 1e-4 * static_cast<double>(result.batch_size);
  return result;
}

PlantedChain planned(double wait_seconds, double cpu_seconds) {
  PlantedChain planted;
  planted.chain = chain(wait_seconds, cpu_seconds);
  planted.truth = planned_truth(planted.chain).value();
  return planted;
}

/// Names the second of five stages, with the given drop.
Report report_of(double drop, const Interval& interval) {
  Report report;
  report.verdict.kind = VerdictKind::drop;
  report.verdict.stage = "wait";
  report.verdict.stage_index = 2;
  report.stages.resize(5);
  report.stages[1].name = "wait";
  report.stages[1].drop.value = drop;
  report.stages[1].drop.interval = interval;
  return report;
}

}  // namespace

TEST_CASE("in real time planted stages make up for waiting, so that only full cores limit them") {
  const PlantedChain waits = planned(400e-6, 100e-6);
  CHECK(waits.truth.seconds_per_sample[0] == doctest::Approx(125e-6));
  CHECK(leaves_cores_free(waits, 2));
  CHECK_FALSE(leaves_cores_free(waits, 0.5));
  const PlantedChain computes = planned(100e-6, 500e-6);
  CHECK(computes.truth.seconds_per_sample[0] == doctest::Approx(250e-6));
  CHECK_FALSE(leaves_cores_free(computes, 2));
}

TEST_CASE("a drawn chain that keeps the cores busy has an approximate truth") {
  bool some = false;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const PlantedChain planted = draw(seed, corpus(false, 2));
    CHECK(planted.truth.approximate == !leaves_cores_free(planted, 2));
    some = some || planted.truth.approximate;
  }
  CHECK(some);
}

TEST_CASE("intervals are scored against what is known: a value, an interval, or nothing") {
  PlantedChain planted = planned(500e-6, 0);
  const double drop = planted.truth.drops[1];
  const Report report = report_of(drop, {drop + 0.01, drop + 0.03});
  CHECK(score(report, planted).intervals == 1);
  CHECK(score(report, planted).covered == 0);
  planted.truth.drop_intervals.assign(5, {drop - 0.02, drop + 0.02});
  CHECK(score(report, planted).covered == 1);
  planted.truth.approximate = true;
  CHECK(score(report, planted).intervals == 0);
}

TEST_CASE("chains for CUDA plant nothing in the copy") {
  const DrawOptions options = for_device({}, "cuda:1");
  CHECK_FALSE(for_device({}, "emulated").real_copy);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const PlantedChain planted = draw(seed, options);
    CHECK(planted.truth.planted.find("copy") == std::string::npos);
    CHECK(pipeline_json(planted, "cuda:1").find(R"("device": "cuda:1")") != std::string::npos);
  }
  DrawOptions short_chains = options;
  short_chains.min_stages = 3;
  CHECK(test::usage_error([&] { (void)draw(1, short_chains); }) != "");
}

TEST_CASE("work is planted on the emulated device or on CUDA") {
  CHECK_NOTHROW(require_device("emulated"));
  for (const char* const name : {"cpu", "auto", "gpu"}) {
    CHECK(test::has(test::usage_error([&] { require_device(name); }), name));
  }
  CHECK(test::error_message([] { require_device("cuda:999"); }, ErrorKind::device) != "");
}

TEST_CASE("a span that holds the stage to blame is neither right nor wrong") {
  const PlantedChain planted = planned(400e-6, 100e-6);
  Report report = report_of(0.2, {0.1, 0.3});
  CHECK(score(report, planted).outcome == Outcome::right);
  report.verdict.stage = report.verdict.span = "stages 1-2 together";
  report.verdict.stage_index = 1;
  report.spans.push_back({.name = report.verdict.span, .first = 1, .last = 2});
  CHECK(score(report, planted).outcome == Outcome::inconclusive);
  report.spans[0].first = report.verdict.stage_index = 3;
  report.spans[0].last = 4;
  CHECK(score(report, planted).outcome == Outcome::wrong);
}
