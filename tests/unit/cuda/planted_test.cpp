// Work of a given time on a virtual CUDA device.
#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include "cuda_stub/machine.hpp"
#include "support/passed_time.hpp"
#include "unit/cuda/planted_job.hpp"
#include <doctest/doctest.h>

#include "cachebisect/device/device.hpp"

using namespace cachebisect;
using cuda_stub::Machine;
using test::kPlantedStepMs;
using test::planted_job;

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
  CHECK(std::abs(step_ms({ArmKind::replay, 4, 0, {}}) - kPlantedStepMs) < 0.01);
  CHECK(std::abs(step_ms({ArmKind::live, 0, 0, {}}) - kPlantedStepMs) < 0.01);
  CHECK(std::abs(step_ms({ArmKind::live, 0, 0, {{"emulate.step_ms", "50"}}}) - 50) < 0.01);
  CHECK(machine.violations().empty());
}

TEST_CASE("in real time, work has happened when its time has passed, for every thread") {
  Machine machine({.real_time = true});
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream();
  const auto event = device->make_event();
  const test::Beginning start;
  device->enqueue_work(*stream, 0.05);
  device->record(*event, *stream);
  CHECK_FALSE(device->synchronize_for(*event, 0));
  std::jthread other([&] {
    device->synchronize(*event);
    CHECK(start.is_past(0.05));
  });
  device->synchronize(*event);
  CHECK(start.is_past(0.05));
  CHECK(device->synchronize_for(*event, 0));
}
