#include "cachebisect/replay/loop/train_loop.hpp"

#include <thread>

#include "support/counting_chain.hpp"
#include "support/errors.hpp"
#include "support/fake_device.hpp"
#include "support/recording_step.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::counting_chain;
using test::FakeDevice;
using test::TimedStep;

namespace {

constexpr double kStep = 0.004;
constexpr double kCopy = 0.003;

struct Run {
  BlockTiming timing;
  std::vector<std::uint64_t> steps;
  int copies = 0;
};

/// A training loop on a device in virtual time, and its loader.
struct Rig {
  Rig(const CopyOptions& copy, double copy_seconds, double step_seconds,
      const ExecutorOptions& options, int sync_every = 0)
      : pipeline(counting_chain(copy)),
        device(copy_seconds),
        step(step_seconds),
        loop(pipeline, device, step, copy, sync_every),
        loader(pipeline, device, options) {}

  Run end(const BlockTiming& timing) {
    loader.halt();
    return {timing, step.indices, device.copies_made};
  }

  Pipeline pipeline;
  FakeDevice device;
  TimedStep step;
  TrainLoop loop;
  Executor loader;
};

Run run_live(const CopyOptions& copy, double copy_seconds, double step_seconds,
             const BlockSteps& steps, int sync_every = 0) {
  Rig rig(copy, copy_seconds, step_seconds, {0, 2, false, {}}, sync_every);
  rig.loader.start({});
  return rig.end(rig.loop.run({&rig.loader}, steps, {}));
}

}  // namespace

TEST_CASE("a copy on a separate stream overlaps with the step") {
  for (const int prefetch : {1, 2, 3}) {
    CAPTURE(prefetch);
    const CopyOptions copy{true, true, prefetch};
    CHECK(run_live(copy, kCopy, kStep, {2, 10, 0}).timing.seconds == doctest::Approx(10 * kStep));
    CHECK(run_live(copy, kStep, kCopy, {4, 10, 0}).timing.seconds == doctest::Approx(10 * kStep));
  }
}

TEST_CASE("copy and step alternate with prefetch 0, unpinned or blocking") {
  for (const CopyOptions copy :
       {CopyOptions{true, true, 0}, CopyOptions{false, true, 2}, CopyOptions{true, false, 2}}) {
    const Run run = run_live(copy, kCopy, kStep, {2, 10, 0});
    CHECK(run.timing.seconds == doctest::Approx(10 * (kStep + kCopy)));
  }
}

TEST_CASE("a synchronised loop that loads inline pays for copy and step") {
  const Run run = run_live({true, true, 2}, kCopy, kStep, {2, 10, 0}, 1);
  CHECK(run.timing.seconds == doctest::Approx(10 * (kStep + kCopy)));
}

TEST_CASE("a block runs its steps, counts its samples and copies no unused batch") {
  const Run run = run_live({true, true, 2}, kCopy, kStep, {3, 5, 17});
  CHECK(run.steps == std::vector<std::uint64_t>{17, 18, 19, 20, 21, 22, 23, 24});
  CHECK(run.timing.samples == 20);
  CHECK(run.copies == 8);
}

TEST_CASE("a block whose time is up ends with a whole group of steps") {
  BlockSteps steps{.warmup = 2, .timed = 24, .groups = 3, .max_seconds = 1e-9};
  const BlockTiming ended = run_live({true, true, 2}, kCopy, kStep, steps).timing;
  CHECK(ended.steps == 8);
  CHECK(ended.samples == 32);
  CHECK(ended.seconds == doctest::Approx(8 * kStep));
  REQUIRE(ended.group_taus.size() == 1);
  CHECK(ended.group_taus[0] == doctest::Approx(kStep / 4));
  steps.max_seconds = 3600;
  const BlockTiming whole = run_live({true, true, 2}, kCopy, kStep, steps).timing;
  CHECK(whole.steps == 24);
  CHECK(whole.group_taus.size() == 3);
}

TEST_CASE("cached device batches cost only the step") {
  const CopyOptions copy;
  const Pipeline pipeline = counting_chain(copy);
  FakeDevice device(kCopy);
  TimedStep step(kStep);
  TrainLoop loop(pipeline, device, step, copy, 0);
  std::vector<DeviceBatch> batches(3);
  for (DeviceBatch& batch : batches) batch.size = 4;
  const BlockTiming timing =
      loop.run({nullptr, batches, pipeline.stages().size(), 1}, {1, 7, 0}, {});
  CHECK(timing.seconds == doctest::Approx(7 * kStep));
  CHECK(timing.samples == 28);
  CHECK(device.copies_made == 0);
}

TEST_CASE("cached host batches are copied as live ones are") {
  Rig rig({true, true, 2}, kCopy, kStep, {0, 2, true, {}});
  std::vector<HostBatch> batches(2);
  for (HostBatch& batch : batches) {
    batch.size = 4;
    batch.fields.resize(1);
    batch.fields[0].name = "x";
    batch.fields[0].tensor = dense_view(static_cast<std::byte*>(nullptr), DType::int64, Shape{4});
  }
  LoadRequest request;
  request.boundary = rig.pipeline.copy_position();
  request.cache.batches = batches;
  rig.loader.start(request);
  const Run run = rig.end(rig.loop.run({&rig.loader}, {2, 10, 0}, {}));
  CHECK(run.timing.seconds == doctest::Approx(10 * kStep));
  CHECK(run.copies == 12);
}

TEST_CASE("on the emulated device late submission does not lengthen a block of cached batches") {
  const CopyOptions copy;
  const Pipeline pipeline = counting_chain(copy);
  const auto device = make_emulated_device({});
  TimedStep step(0.001);
  TrainLoop loop(pipeline, *device, step, copy, 0);
  std::vector<DeviceBatch> batches(1);
  batches[0].size = 4;
  const BlockTiming timing = loop.run({nullptr, batches, pipeline.stages().size()}, {2, 20, 0}, {});
  CHECK(timing.seconds == doctest::Approx(0.020));
}

TEST_CASE("loaders may take turns, and each keeps its own batches") {
  const std::vector<SampleIndex> low{{0}, {1}, {2}, {3}};
  const std::vector<SampleIndex> high{{32}, {33}, {34}, {35}};
  for (const int workers : {0, 2}) {
    CAPTURE(workers);
    Rig rig({true, true, 2}, kCopy, kStep, {workers, 2, false, {}});
    Executor other(rig.pipeline, rig.device, {workers, 6, false, {}});
    test::RecordingStep step;
    TrainLoop loop(rig.pipeline, rig.device, step, {true, true, 2}, 0);
    for (int block = 0; block < 6; ++block) {
      const bool is_other = block % 2 == 1;
      Executor& loader = is_other ? other : rig.loader;
      loader.resume({.indices = is_other ? high : low});
      loop.run({&loader}, {1, 2, 0}, {});
      loader.suspend();
    }
    REQUIRE(step.seen.size() == 18);
    for (std::size_t i = 0; i < step.seen.size(); ++i) {
      CHECK(step.seen[i].indices.front() == (i / 3 % 2 == 1 ? 32U : 0U));
    }
  }
}

TEST_CASE("a failing step is named, and the loop runs again afterwards") {
  const CopyOptions copy;
  const Pipeline pipeline = counting_chain(copy);
  const auto device = make_cpu_device();
  test::RecordingStep step;
  TrainLoop loop(pipeline, *device, step, copy, 0);
  Executor loader(pipeline, *device, {1, 1, false, {}});
  step.then = [](const DeviceBatch&) { throw std::runtime_error("weights are gone"); };
  loader.start({});
  CHECK(test::error_message(
            [&] {
              loop.run({&loader}, {1, 2, 0}, {});
            },
            ErrorKind::data) == "training step 'recording': weights are gone");
  loader.halt();
  loop.drain();
  step.then = nullptr;
  loader.start({});
  CHECK(loop.run({&loader}, {1, 2, 0}, {}).samples == 8);
  loader.halt();
}

TEST_CASE("a stop request does not wait for a long emulated step") {
  const CopyOptions copy;
  const Pipeline pipeline = counting_chain(copy);
  const auto device = make_emulated_device({});
  TimedStep step(3600);
  TrainLoop loop(pipeline, *device, step, copy, 0);
  std::vector<DeviceBatch> batches(1);
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  CHECK_THROWS_AS(
      loop.run({nullptr, batches, pipeline.stages().size()}, {2, 8, 0}, stop.get_token()), Error);
}

namespace {

/// Waits until the loader has filled its ring, so that a paced loop always finds the same batches.
void wait_until_full(const Executor& loader) {
  while (loader.ready().value_or(0) < loader.slots()) std::this_thread::yield();
}

std::vector<DeviceBatch> cached_batches(std::size_t count) {
  std::vector<DeviceBatch> batches(count);
  for (DeviceBatch& batch : batches) batch.size = 4;
  return batches;
}

Run run_shadow(const CopyOptions& copy, double copy_seconds, double step_seconds, int timed) {
  Rig rig(copy, copy_seconds, step_seconds, {1, 2, true, {}});
  const std::vector<DeviceBatch> batches = cached_batches(3);
  rig.loader.start({});
  wait_until_full(rig.loader);
  const StepSource source{&rig.loader, batches, rig.pipeline.stages().size(), 0, true};
  return rig.end(rig.loop.run(source, {2, timed, 0}, {}));
}

}  // namespace

TEST_CASE("a shadowed step never waits for a slow copy on a separate stream") {
  for (const double copy_seconds : {kCopy, kStep, 10 * kStep}) {
    CAPTURE(copy_seconds);
    const Run run = run_shadow({true, true, 2}, copy_seconds, kStep, 10);
    CHECK(run.timing.seconds == doctest::Approx(10 * kStep));
    CHECK(run.timing.starved_seconds == 0);
    CHECK(run.timing.samples == 40);
    CHECK(run.copies >= 3);   // the buffers, from a full ring
    CHECK(run.copies <= 12);  // one per step
  }
}

TEST_CASE("a shadowed step alternates with copies if a live step does") {
  const Run run = run_shadow({true, true, 0}, kCopy, kStep, 2);
  CHECK(run.timing.seconds == doctest::Approx(2 * (kStep + kCopy)));
  CHECK(run.copies == 4);  // the ring held one for each step
}

TEST_CASE("with the copy bypassed, batches are taken in order and none is copied") {
  Rig rig({true, true, 2}, kCopy, kStep, {0, 2, true, {}});
  const std::vector<DeviceBatch> batches = cached_batches(3);
  rig.loader.start({});
  const StepSource source{&rig.loader, batches, rig.pipeline.copy_position() + 1};
  const BlockTiming timing = rig.loop.run(source, {2, 10, 0}, {});
  CHECK(rig.loader.next({}).sequence == 12);
  const Run run = rig.end(timing);
  CHECK(run.timing.seconds == doctest::Approx(10 * kStep));
  CHECK(run.copies == 0);
}

TEST_CASE("the copy's device time and the training thread's time are measured") {
  const CopyOptions copy{true, true, 2};
  const Pipeline pipeline = counting_chain(copy);
  const auto device = make_emulated_device({.copy_gb_per_s = 1, .copy_latency_us = 500});
  TimedStep step(0.001);
  TrainLoop loop(pipeline, *device, step, copy, 0);
  Executor loader(pipeline, *device, {0, 2, true, {}});
  loader.start({});
  const BlockTiming timing = loop.run({&loader}, {2, 8, 0}, {});
  loader.halt();
  REQUIRE(timing.device_stages.size() == 1);
  CHECK(timing.device_stages[0].samples == 40);
  const double exact = 10 * (500e-6 + 4 * 8 / 1e9);
  CHECK(timing.device_stages[0].busy_seconds >= doctest::Approx(exact).epsilon(1e-6));
  CHECK_FALSE(timing.ready_batches.has_value());
  loader.start({});
  const BlockTiming unobserved = loop.run({&loader}, {2, 8, 0, false}, {});
  loader.halt();
  CHECK(unobserved.device_stages.empty());
}

TEST_CASE("a step that runs in the training thread makes it busy and not starved") {
  const CopyOptions copy;
  const Pipeline pipeline = counting_chain(copy);
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  const auto cpu = make_cpu_device();
  test::RecordingStep step;
  step.then = [&](const DeviceBatch&) { nap(); };
  TrainLoop loop(pipeline, *cpu, step, copy, 0);
  const std::vector<DeviceBatch> batches = cached_batches(1);
  const BlockTiming busy = loop.run({nullptr, batches, pipeline.stages().size()}, {1, 5, 0}, {});
  CHECK(busy.trainer_seconds >= 0.010);
  CHECK(busy.starved_seconds == 0);
}

TEST_CASE("a long emulated step delays neither a stop request nor the next block") {
  const CopyOptions copy{true, true, 0};  // copies are queued after the steps
  const Pipeline pipeline = counting_chain(copy);
  const auto device = make_emulated_device({});
  for (const int workers : {0, 2}) {
    CAPTURE(workers);
    TimedStep step(3600);
    TrainLoop loop(pipeline, *device, step, copy, 0);
    Executor loader(pipeline, *device, {workers, 0, true, {}});
    loader.start({});
    std::stop_source stop;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop.request_stop();
    });
    CHECK_THROWS_AS(loop.run({&loader}, {2, 8, 0}, stop.get_token()), Error);
    loader.halt();
    loop.drain();
  }
}

TEST_CASE("the share of steps at whose submission the device had finished tells who limits") {
  const BlockSteps steps{2, 10, 0};
  CHECK(run_live({true, true, 2}, 0, kStep, steps).timing.device_idle_share == 0);
  CHECK(run_live({true, true, 2}, 0, 0, steps).timing.device_idle_share == 1);
  CHECK(run_live({true, true, 2}, 0, kStep, steps, 1).timing.device_idle_share == 1);
  BlockSteps unobserved = steps;
  unobserved.observe = false;
  CHECK_FALSE(run_live({true, true, 2}, 0, 0, unobserved).timing.device_idle_share);
}
