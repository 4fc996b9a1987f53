#include "cachebisect/replay/train_loop.hpp"

#include <thread>

#include "tests/support/fake_device.hpp"
#include "tests/support/recording_step.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

using namespace cachebisect;
using test::FakeDevice;
using test::TimedStep;

namespace {

constexpr double kStep = 0.004;
constexpr double kCopy = 0.003;

Pipeline chain(const CopyOptions& copy) {
  return PipelineBuilder{}
      .source("read", 64,
              [](SampleIndex i, Sample& out) {
                out.field("x").set<std::int64_t>(static_cast<std::int64_t>(i.value));
              })
      .collate()
      .copy(copy)
      .batch_size(4)
      .workers(0)
      .build();
}

struct Run {
  BlockTiming timing;
  std::vector<std::uint64_t> steps;
  int copies = 0;
};

Run run_live(const CopyOptions& copy, double copy_seconds, double step_seconds,
             const BlockSteps& steps, int sync_every = 0) {
  const Pipeline pipeline = chain(copy);
  FakeDevice device(copy_seconds);
  TimedStep step(step_seconds);
  TrainLoop loop(pipeline, device, step, copy, sync_every);
  Executor loader(pipeline, device, {0, 2, false, {}});
  loader.start({});
  const BlockTiming timing = loop.run(loader, steps, {});
  loader.halt();
  return {timing, step.indices, device.copies_made};
}

}  // namespace

TEST_CASE("A copy ahead on a stream of its own overlaps with the step") {
  for (const int prefetch : {1, 2, 3}) {
    CAPTURE(prefetch);
    const CopyOptions copy{true, true, prefetch};
    CHECK(run_live(copy, kCopy, kStep, {2, 10, 0}).timing.seconds == doctest::Approx(10 * kStep));
    CHECK(run_live(copy, kStep, kCopy, {4, 10, 0}).timing.seconds == doctest::Approx(10 * kStep));
  }
}

TEST_CASE("Copy and step take turns with prefetch 0, unpinned or blocking") {
  for (const CopyOptions copy :
       {CopyOptions{true, true, 0}, CopyOptions{false, true, 2}, CopyOptions{true, false, 2}}) {
    const Run run = run_live(copy, kCopy, kStep, {2, 10, 0});
    CHECK(run.timing.seconds == doctest::Approx(10 * (kStep + kCopy)));
  }
}

TEST_CASE("A synchronised loop that loads inline pays for copy and step") {
  const Run run = run_live({true, true, 2}, kCopy, kStep, {2, 10, 0}, 1);
  CHECK(run.timing.seconds == doctest::Approx(10 * (kStep + kCopy)));
}

TEST_CASE("A block runs its steps, counts its samples and copies no batch in vain") {
  const Run run = run_live({true, true, 2}, kCopy, kStep, {3, 5, 17});
  CHECK(run.steps == std::vector<std::uint64_t>{17, 18, 19, 20, 21, 22, 23, 24});
  CHECK(run.timing.samples == 20);
  CHECK(run.copies == 8);
}

TEST_CASE("Cached device batches cost the step alone") {
  const CopyOptions copy;
  const Pipeline pipeline = chain(copy);
  FakeDevice device(kCopy);
  TimedStep step(kStep);
  TrainLoop loop(pipeline, device, step, copy, 0);
  std::vector<DeviceBatch> batches(3);
  for (DeviceBatch& batch : batches) batch.size = 4;
  const BlockTiming timing = loop.run(batches, pipeline.stages().size(), 1, {1, 7, 0}, {});
  CHECK(timing.seconds == doctest::Approx(7 * kStep));
  CHECK(timing.samples == 28);
  CHECK(device.copies_made == 0);
}

TEST_CASE("Cached host batches are copied as live ones are") {
  const CopyOptions copy{true, true, 2};
  const Pipeline pipeline = chain(copy);
  FakeDevice device(kCopy);
  TimedStep step(kStep);
  TrainLoop loop(pipeline, device, step, copy, 0);
  Executor loader(pipeline, device, {2, 2, true, {}});
  std::vector<HostBatch> batches(2);
  for (HostBatch& batch : batches) {
    batch.size = 4;
    batch.fields.resize(1);
    batch.fields[0].name = "x";
    batch.fields[0].tensor = dense_view(static_cast<std::byte*>(nullptr), DType::int64, Shape{4});
  }
  LoadPlan plan;
  plan.boundary = pipeline.copy_position();
  plan.cache.batches = batches;
  loader.start(plan);
  const BlockTiming timing = loop.run(loader, {2, 10, 0}, {});
  loader.halt();
  CHECK(timing.seconds == doctest::Approx(10 * kStep));
  CHECK(device.copies_made == 12);
}

TEST_CASE("On the emulated device late submission does not stretch a block of cached batches") {
  const CopyOptions copy;
  const Pipeline pipeline = chain(copy);
  const auto device = make_emulated_device({});
  TimedStep step(0.001);
  TrainLoop loop(pipeline, *device, step, copy, 0);
  std::vector<DeviceBatch> batches(1);
  batches[0].size = 4;
  const BlockTiming timing = loop.run(batches, pipeline.stages().size(), 0, {2, 20, 0}, {});
  CHECK(timing.seconds == doctest::Approx(0.020));
}

TEST_CASE("A failing step is named, and the loop runs again afterwards") {
  const CopyOptions copy;
  const Pipeline pipeline = chain(copy);
  const auto device = make_cpu_device();
  test::RecordingStep step;
  TrainLoop loop(pipeline, *device, step, copy, 0);
  Executor loader(pipeline, *device, {1, 1, false, {}});
  step.then = [](const DeviceBatch&) { throw std::runtime_error("weights are gone"); };
  loader.start({});
  try {
    loop.run(loader, {1, 2, 0}, {});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    CHECK(std::string(error.what()) == "training step 'recording': weights are gone");
  }
  loader.halt();
  loop.drain();
  step.then = nullptr;
  loader.start({});
  CHECK(loop.run(loader, {1, 2, 0}, {}).samples == 8);
  loader.halt();
}

TEST_CASE("A stop leaves a long emulated step") {
  const CopyOptions copy;
  const Pipeline pipeline = chain(copy);
  const auto device = make_emulated_device({});
  TimedStep step(3600);
  TrainLoop loop(pipeline, *device, step, copy, 0);
  std::vector<DeviceBatch> batches(1);
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  CHECK_THROWS_AS(loop.run(batches, pipeline.stages().size(), 0, {2, 8, 0}, stop.get_token()),
                  Error);
}
