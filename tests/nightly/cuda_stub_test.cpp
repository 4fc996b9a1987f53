// The CUDA device over a stub runtime: blocks and verdicts next to a host in real time.
#include "cuda_stub/machine.hpp"
#include "support/all_stages.hpp"
#include "unit/cuda/planted_job.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/selftest/selftest.hpp"

using namespace cachebisect;
using cuda_stub::Machine;
using test::kPlantedBatch;
using test::kPlantedSampleBytes;
using test::kPlantedStepMs;
using test::planted_job;

namespace {

/// On a device that takes so long to copy a batch.
Report report_with_copy(double copy_ms) {
  const double bytes = kPlantedBatch * (kPlantedSampleBytes + 8.0);  // with the labels
  Machine machine({.copy_bytes_per_second = bytes / (1e-3 * copy_ms)});
  const Job job = planted_job();
  PipelineReplayer replayer = job.make_replayer();
  BisectOptions options;
  options.budget_seconds = 1e4;  // the host's clock is not the device's
  options.sustain_seconds = 0;
  options.explain = false;
  Report report = bisect(replayer, options);
  CHECK(machine.violations().empty());
  return report;
}

}  // namespace

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

TEST_CASE("the verdict names the copy of a planted chain on CUDA, and none where nothing is lost") {
  const Report slow = report_with_copy(2 * kPlantedStepMs);
  CHECK(slow.verdict.kind == VerdictKind::drop);
  CHECK(slow.verdict.stage == "copy");
  CHECK(report_with_copy(0.1 * kPlantedStepMs).verdict.kind == VerdictKind::flat);
}
