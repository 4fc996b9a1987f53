// The stream of events of a loop on a device in virtual time, and both views of one loop.
#include "cachebisect/observe/loop_events.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/counting_chain.hpp"
#include "support/fake_device.hpp"
#include <doctest/doctest.h>

#include "cachebisect/observe/slowdown.hpp"
#include "cachebisect/profile/loop_recorder.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"
#include "cachebisect/timing/step_timer.hpp"

using namespace cachebisect;
using doctest::Approx;
using test::counting_chain;
using test::FakeDevice;

namespace {

/// Keeps all events.
class KeptEvents final : public LoopView {
 public:
  void block_begun(const BlockSteps& steps, Device& /*device*/, Stream& /*compute*/) override {
    untimed = steps.warmup;
  }
  void take(const LoopEvent& event) override { events.push_back(event); }
  void block_ended() override { ended = true; }

  std::vector<LoopEvent> events;
  int untimed = 0;
  bool ended = false;
};

/// A step of two seconds that tells two parts.
class TwoParts final : public TrainStep {
 public:
  [[nodiscard]] std::string name() const override { return "two parts"; }
  void step(const DeviceBatch& /*batch*/, const StepContext& context) override {
    for (const StepPart part : {StepPart::forward, StepPart::optimizer}) {
      context.device->enqueue_work(*context.stream, 1);
      if (context.observer != nullptr) context.observer->part_ended(part);
    }
  }
};

/// One untimed batch and then `timed` ones, loaded by the training thread.
void run_loop(std::vector<LoopView*> views, int timed) {
  constexpr CopyOptions kCopy{true, true, 0};
  const Pipeline pipeline = counting_chain(kCopy);
  FakeDevice device(0.5);
  TwoParts step;
  TrainLoop loop(pipeline, device, step, kCopy, 0);
  Executor loader(pipeline, device, {.workers = 0});
  LoopEvents events(std::move(views));
  loader.start({});
  loop.run({&loader}, {.warmup = 1, .timed = timed, .observer = &events}, {});
  loader.halt();
}

bool is_of_device(LoopMoment moment) {
  constexpr std::array kHostAlone{LoopMoment::wait_begun, LoopMoment::wait_ended,
                                  LoopMoment::device_wait_begun, LoopMoment::device_wait_ended};
  return std::ranges::find(kHostAlone, moment) == kHostAlone.end();
}

}  // namespace

TEST_CASE("each batch has its events in order, with their times and streams") {
  KeptEvents kept;
  run_loop({&kept}, 2);
  CHECK(kept.untimed == 1);
  CHECK(kept.ended);
  using enum LoopMoment;
  const std::vector<LoopMoment> batch{wait_begun, wait_ended, copy_begun, copy_ended,
                                      step_begun, part_ended, part_ended, step_ended};
  REQUIRE(kept.events.size() >= 3 * batch.size());
  double before = 0;
  for (std::size_t i = 0; i < kept.events.size(); ++i) {
    const LoopEvent& event = kept.events[i];
    CAPTURE(i);
    CHECK(event.seconds >= before);
    before = event.seconds;
    CHECK((event.stream != nullptr) == is_of_device(event.moment));
    CHECK(event.samples == (event.moment == step_begun ? 4 : 0));
    CHECK(event.starved == (event.moment == wait_ended));  // no workers
    if (i < 3 * batch.size()) {
      CHECK(event.moment == batch[i % batch.size()]);
      CHECK(event.batch == i / batch.size());
    } else {
      CHECK(event.batch == 2);  // the end of the block is awaited
    }
  }
  CHECK(kept.events[5].part == StepPart::forward);
  CHECK(kept.events[6].part == StepPart::optimizer);
}

TEST_CASE("times and profile are views of the same events") {
  constexpr int kTimed = 6;
  StepTimer timer(kTimed, 0);
  profile::LoopRecorder recorder(kTimed, nullptr);
  run_loop({&timer, &recorder}, kTimed);
  std::vector<double> waits;
  for (const profile::LoopSpan& span : recorder.spans()) {
    if (span.work == profile::LoopWork::load) waits.push_back(span.end - span.begin);
  }
  REQUIRE(waits.size() == kTimed);
  REQUIRE(timer.batches().size() == kTimed);
  for (const BatchTimes& batch : timer.batches()) {
    CAPTURE(batch.batch);
    CHECK(batch.wait_seconds == waits[batch.batch]);  // one reading of the clock
    CHECK(batch.of(TimePart::forward) == Approx(1));
    CHECK(batch.of(TimePart::optimizer) == Approx(1));
  }
}

TEST_CASE("what observing costs is the mean of pairs, with an interval from two on") {
  CHECK_FALSE(slowdown_of({}).value.has_value());
  const Estimate one = slowdown_of(std::vector{std::log(1.25)});
  CHECK(one.value.value() == Approx(0.25));
  CHECK_FALSE(one.interval.has_value());
  const Estimate two = slowdown_of(std::vector{std::log(1.25), std::log(1.25)});
  REQUIRE(two.interval.has_value());
  CHECK(two.interval->low == Approx(0.25));
  CHECK(two.interval->high == Approx(0.25));
}
