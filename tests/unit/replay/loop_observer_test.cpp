#include "cachebisect/replay/loop/loop_observer.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "support/counting_chain.hpp"
#include "support/fake_device.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/loop/train_loop.hpp"

using namespace cachebisect;
using test::counting_chain;
using test::FakeDevice;

namespace {

/// Writes down each call as one word.
class Diary final : public LoopObserver {
 public:
  void block_begun(const BlockSteps& steps, Device& /*device*/, Stream& /*compute*/) override {
    words << "block:" << steps.warmup << '+' << steps.timed;
  }
  void wait_begun(std::uint64_t batch) override { words << " wait" << batch; }
  void wait_ended(std::uint64_t batch, bool starved) override {
    words << (starved ? " starved" : " had") << batch;
  }
  void copy_begun(std::uint64_t batch, Stream& /*stream*/) override { words << " copy" << batch; }
  void copy_ended(std::uint64_t batch, Stream& /*stream*/) override { words << " copied" << batch; }
  void step_begun(std::uint64_t batch, std::int64_t samples) override {
    words << " step" << batch << 'x' << samples;
  }
  void part_ended(StepPart part) override { words << ' ' << to_string(part); }
  void step_ended(std::uint64_t batch) override { words << " stepped" << batch; }
  void device_wait_begun() override { words << " full"; }
  void device_wait_ended() override { words << " room"; }
  void block_ended() override { words << " end"; }

  std::ostringstream words;
};

/// A step that takes a second and tells its parts.
class PartedStep final : public TrainStep {
 public:
  [[nodiscard]] std::string name() const override { return "parted"; }
  void step(const DeviceBatch& /*batch*/, const StepContext& context) override {
    context.device->enqueue_work(*context.stream, 1);
    if (context.observer == nullptr) return;
    for (const StepPart part : {StepPart::forward, StepPart::optimizer}) {
      context.observer->part_ended(part);
    }
  }
};

std::string diary_of(int workers, const CopyOptions& copy, const BlockSteps& steps) {
  const Pipeline pipeline = counting_chain(copy);
  FakeDevice device(0.5);
  PartedStep step;
  TrainLoop loop(pipeline, device, step, copy, 0);
  Executor loader(pipeline, device, {workers, 2, false, {}});
  Diary diary;
  BlockSteps followed = steps;
  followed.observer = &diary;
  loader.start({});
  if (workers > 0) {
    while (loader.ready().value_or(0) < loader.slots()) std::this_thread::yield();
  }
  loop.run({&loader}, followed, {});
  loader.halt();
  const std::string words = diary.words.str();
  loader.start({});
  loop.run({&loader}, steps, {});
  loader.halt();
  CHECK(diary.words.str() == words);  // a block that nobody follows
  return words;
}

}  // namespace

TEST_CASE("an observer follows each batch from the wait to the end of its step") {
  CHECK(diary_of(0, {true, true, 0}, {1, 2, 0}) ==
        "block:1+2 wait0 starved0 copy0 copied0 step0x4 forward optimizer stepped0"
        " wait1 starved1 copy1 copied1 step1x4 forward optimizer stepped1"
        " wait2 starved2 copy2 copied2 step2x4 forward optimizer stepped2 full room full room end");
}

TEST_CASE("batches that are ready come without starving, and are copied ahead of their steps") {
  CHECK(diary_of(1, {true, true, 1}, {1, 2, 0}) ==
        "block:1+2 wait0 had0 copy0 copied0 step0x4 forward optimizer stepped0 copy1 copied1"
        " step1x4 forward optimizer stepped1 copy2 copied2"
        " step2x4 forward optimizer stepped2 full room full room end");
}
