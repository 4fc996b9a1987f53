// The timer on a device in virtual time, where every second is exact.
#include "cachebisect/timing/step_timer.hpp"

#include "support/fake_device.hpp"
#include <doctest/doctest.h>

#include "cachebisect/observe/loop_events.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"

using namespace cachebisect;
using doctest::Approx;
using test::FakeDevice;

namespace {

/// Forward takes 1 s, backward 2 s, the optimizer half a second in every second step.
class PartedStep final : public TrainStep {
 public:
  [[nodiscard]] std::string name() const override { return "parted"; }
  void step(const DeviceBatch& /*batch*/, const StepContext& context) override {
    work(context, 1, StepPart::forward);
    work(context, 2, StepPart::backward);
    if (context.index % 2 == 1) work(context, 0.5, StepPart::optimizer);
  }

 private:
  static void work(const StepContext& context, double seconds, StepPart part) {
    context.device->enqueue_work(*context.stream, seconds);
    if (context.observer != nullptr) context.observer->part_ended(part);
  }
};

/// A chain whose copy takes `copy_seconds`.
class Rig {
 public:
  Rig(double copy_seconds, const CopyOptions& copy)
      : pipeline_(PipelineBuilder{}
                      .source("read", 64,
                              [](SampleIndex i, Sample& out) {
                                out.field("x").set<std::int64_t>(
                                    static_cast<std::int64_t>(i.value));
                              })
                      .collate()
                      .copy(copy)
                      .batch_size(4)
                      .workers(0)
                      .build()),
        device_(copy_seconds),
        loop_(pipeline_, device_, step_, copy, 0),
        loader_(pipeline_, device_, {.workers = 0}) {}

  void run(StepTimer& timer, int warmup, int timed) {
    LoopEvents events({&timer});
    loader_.start({});
    loop_.run({&loader_}, {.warmup = warmup, .timed = timed, .observer = &events}, {});
    loader_.halt();
  }

 private:
  Pipeline pipeline_;
  FakeDevice device_;
  PartedStep step_;
  TrainLoop loop_;
  Executor loader_;
};

}  // namespace

TEST_CASE("each batch is divided by the events of its own step") {
  Rig rig(0.25, {true, true, 0});
  StepTimer timer(30, 0);
  rig.run(timer, 2, 30);
  REQUIRE(timer.batches().size() == 30);
  for (const BatchTimes& batch : timer.batches()) {
    CAPTURE(batch.batch);
    const bool steps = batch.batch % 2 == 1;  // two untimed steps come first
    CHECK(batch.samples == 4);
    CHECK(batch.starved);  // no workers
    CHECK(batch.of(TimePart::copy) == Approx(0.25));
    CHECK(batch.of(TimePart::forward) == Approx(1));
    CHECK(batch.of(TimePart::backward) == Approx(2));
    CHECK(batch.of(TimePart::optimizer) == Approx(steps ? 0.5 : 0));
    CHECK(batch.of(TimePart::step) == 0);
    CHECK(batch.total_seconds == Approx(steps ? 3.75 : 3.25));
  }
}

TEST_CASE("a copy that overlaps with the step before is not waited for") {
  Rig rig(0.25, {true, true, 3});
  StepTimer timer(20, 3);
  rig.run(timer, 1, 20);
  REQUIRE(timer.batches().size() == 20);
  for (const BatchTimes& batch : timer.batches()) {
    CHECK(batch.copy_seconds == Approx(0.25));
    CHECK(batch.of(TimePart::forward) == Approx(1));
  }
}

TEST_CASE("a timer keeps as many batches as it was made for, over several blocks") {
  Rig rig(0.25, {true, true, 0});
  StepTimer timer(7, 0);
  rig.run(timer, 1, 5);
  CHECK(timer.batches().size() == 5);
  rig.run(timer, 1, 5);
  REQUIRE(timer.batches().size() == 7);
  CHECK(timer.batches().back().batch == 6);
}
