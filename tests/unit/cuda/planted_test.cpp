// Work of a given time on a virtual CUDA device, and verdicts on chains that are planted with it.
#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include "cuda_stub/machine.hpp"
#include "support/all_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/selftest/selftest.hpp"

using namespace cachebisect;
using cuda_stub::Machine;

namespace {

constexpr double kStepMs = 20;
constexpr int kBatch = 8;
constexpr int kSampleBytes = 10'000;

/// read, a stage that waits for `wait_us` per sample, collate, copy, and a step that takes kStepMs.
Job planted_job(double wait_us = 0) {
  const std::string json = R"({"name": "planted", "batch_size": )" + std::to_string(kBatch) +
                           R"(, "workers": 2, "device": "cuda", "stages": [
      {"use": "synthetic.read", "bytes": )" +
                           std::to_string(kSampleBytes) + R"(, "samples": 256},
      {"use": "synthetic.wait", "name": "delay", "us": )" +
                           std::to_string(wait_us) + R"(},
      {"use": "collate.stack"},
      {"use": "copy.device", "pinned": true, "non_blocking": true, "prefetch": 2}],
      "train": {"kind": "emulated"}, "emulate": {"step_ms": )" +
                           std::to_string(kStepMs) + "}}";
  const Registry& registry = test::all_stages();
  return open_job(Pipeline::from_json(json, registry), &registry, {.order_nonce = 0});
}

/// On a device that takes so long to copy a batch.
Report report_with_copy(double copy_ms) {
  const double bytes = kBatch * (kSampleBytes + 8.0);  // with the labels
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

TEST_CASE("planted work takes its time by the events of the device") {
  for (const std::uint64_t schedule : {0, 1, 2}) {
    Machine machine({.schedule = schedule, .clock_offset = 1e5, .clock_drift = 20e-6});
    const auto device = make_cuda_device(0);
    const auto stream = device->make_stream();
    const auto before = device->make_event();
    const auto after = device->make_event();
    for (const double seconds : {25e-6, 2e-3, 0.1}) {
      CAPTURE(seconds);
      device->record(*before, *stream);
      device->enqueue_work(*stream, seconds);
      device->record(*after, *stream);
      device->synchronize(*after);
      const double taken = device->completion_seconds(*after) - device->completion_seconds(*before);
      CHECK(std::abs(taken - seconds) < 1e-6);
    }
    const int launches = machine.calls("cudaLaunchKernel");
    CHECK(launches == 3);
    device->enqueue_work(*stream, 0);
    CHECK(machine.calls("cudaLaunchKernel") == launches);
  }
}

TEST_CASE("an emulated step on CUDA takes step_ms, also in a what-if") {
  Machine machine;
  const Job job = planted_job();
  CHECK(job.step->name() == "emulated");
  PipelineReplayer replayer = job.make_replayer();
  replayer.prepare({}, {});
  const auto step_ms = [&](const Arm& arm) {
    const BlockResult block = replayer.run({arm, 6, 2, 0}, {});
    return 1e3 * block.seconds / block.steps;
  };
  CHECK(std::abs(step_ms({ArmKind::replay, 4, 0, {}}) - kStepMs) < 0.01);
  CHECK(std::abs(step_ms({ArmKind::live, 0, 0, {}}) - kStepMs) < 0.01);
  CHECK(std::abs(step_ms({ArmKind::live, 0, 0, {{"emulate.step_ms", "50"}}}) - 50) < 0.01);
  CHECK(machine.violations().empty());
}

TEST_CASE("the verdict names the copy of a planted chain on CUDA, and none where nothing is lost") {
  const Report slow = report_with_copy(2 * kStepMs);
  CHECK(slow.verdict.kind == VerdictKind::drop);
  CHECK(slow.verdict.stage == "copy");
  CHECK(report_with_copy(0.1 * kStepMs).verdict.kind == VerdictKind::flat);
}

TEST_CASE("in real time, work has happened when its time has passed, for every thread") {
  Machine machine({.real_time = true});
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream();
  const auto event = device->make_event();
  const double before = monotonic_seconds();
  device->enqueue_work(*stream, 0.05);
  device->record(*event, *stream);
  CHECK_FALSE(device->synchronize_for(*event, 0));
  std::jthread other([&] {
    device->synchronize(*event);
    CHECK(monotonic_seconds() - before >= 0.05);
  });
  device->synchronize(*event);
  CHECK(monotonic_seconds() - before >= 0.05);
  CHECK(device->synchronize_for(*event, 0));
}

TEST_CASE("in real time, stages of the host hold up a CUDA step for as long as they take") {
  Machine machine({.real_time = true});
  constexpr double kBatchMs = 2 * kStepMs;  // of both workers together
  const Job job = planted_job(2 * 1e3 * kBatchMs / kBatch);
  PipelineReplayer replayer = job.make_replayer();
  replayer.prepare({}, {});
  const auto step_ms = [&](const Arm& arm) {
    const BlockResult block = replayer.run({arm, 12, 4, 0}, {});
    return 1e3 * block.seconds / block.steps;
  };
  CHECK(step_ms({ArmKind::replay, 4, 0, {}}) == doctest::Approx(kStepMs).epsilon(0.1));
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
