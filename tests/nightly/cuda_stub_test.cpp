// The CUDA device over a stub runtime whose virtual devices keep real time.
#include "cuda_stub/machine.hpp"
#include "support/all_stages.hpp"
#include "unit/cuda/planted_job.hpp"
#include <doctest/doctest.h>

#include "cachebisect/selftest/selftest.hpp"

using namespace cachebisect;
using cuda_stub::Machine;
using test::kPlantedBatch;
using test::kPlantedStepMs;
using test::planted_job;

TEST_CASE("in real time, stages of the host hold up a CUDA step for as long as they take") {
  Machine machine({.real_time = true});
  constexpr double kBatchMs = 2 * kPlantedStepMs;  // of both workers together
  const Job job = planted_job(2 * 1e3 * kBatchMs / kPlantedBatch);
  PipelineReplayer replayer = job.make_replayer();
  replayer.prepare({}, {});
  const auto step_ms = [&](const Arm& arm) {
    const BlockResult block = replayer.run({arm, 12, 4, 0}, {});
    return 1e3 * block.seconds / block.steps;
  };
  CHECK(step_ms({ArmKind::replay, 4, 0, {}}) == doctest::Approx(kPlantedStepMs).epsilon(0.1));
  CHECK(step_ms({ArmKind::live, 0, 0, {}}) > 0.9 * kBatchMs);
  CHECK(machine.violations().empty());
}

TEST_CASE("selftest plants its chains on CUDA, and no verdict is wrong") {
  Machine machine({.real_time = true});
  const selftest::Result result =
      selftest::run({.cases = 2, .device = "cuda", .budget_seconds = 4}, test::all_stages());
  CHECK(result.scores.size() == 2);
  CHECK_FALSE(result.any_wrong());
  CHECK(machine.violations().empty());
}
