// Whatever a stage or a training step throws, wherever it runs: an Error that names it.
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "support/errors.hpp"
#include "support/failing_stages.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/executor/load_guard.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/train/train_step.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

struct OwnType {};

struct Thrown {
  const char* says;
  std::function<void()> raise;
};

const std::vector<Thrown>& all_thrown() {
  static const std::vector<Thrown> all{
      {"type int was thrown", [] { throw 7; }},
      {"OwnType was thrown", [] { throw OwnType(); }},
      {"a plain text", [] { throw "a plain text"; }},
      {"a string", [] { throw std::string("a string"); }},
      {"a runtime error", [] { throw std::runtime_error("a runtime error"); }},
      {"no memory left", [] { throw std::bad_alloc(); }}};
  return all;
}

/// Where a chain fails. Each place is the name of its stage.
const std::vector<std::string> kPlaces{"read",    "callable_read", "process", "callable_process",
                                       "collate", "batch",         "device"};

Pipeline chain(const std::string& place, const SharedFuse& fuse, int workers) {
  const auto at = [&](const char* here) { return place == here ? fuse : std::make_shared<Fuse>(); };
  PipelineBuilder builder;
  if (place == "callable_read") {
    builder.source("callable_read", 100, [fuse](SampleIndex, Sample& out) {
      out.field("image").resize_as<std::uint8_t>({4});
      fuse->pass();
    });
  } else {
    const bool dynamic = place == "collate";  // so that collate runs in the workers
    builder.source("read",
                   toy_source({.vary = dynamic, .on_read = [f = at("read")](auto) { f->pass(); }}));
  }
  builder.stage("process", toy_hook([f = at("process")](const Sample&) { f->pass(); }));
  if (place == "callable_process") {
    builder.stage("callable_process", [fuse](const Sample&, Sample&) { fuse->pass(); });
  }
  if (place == "collate") {
    builder.stage("collate", {"collate.failing", {}, std::make_shared<FailingCollate>(fuse)});
  } else {
    builder.collate();
  }
  builder.stage("batch", {"batch.failing", {}, std::make_shared<FailingBatch>(at("batch"))});
  builder.copy();
  builder.stage("device",
                {"device.failing", {}, std::make_shared<FailingDeviceStage>(at("device"))});
  return builder.batch_size(4).workers(workers).device("cpu").build();
}

void check_named(const std::string& message, const std::string& name, const Thrown& thrown) {
  CAPTURE(message);
  CHECK(has(message, "3: "));
  CHECK(has(message, name));
  CHECK(has(message, thrown.says));
}

std::shared_ptr<TrainStep> idle_step() {
  return make_callback_step([](const DeviceBatch&) {});
}

/// Fails when asked where its samples are.
class LostSource final : public SourceStage {
 public:
  explicit LostSource(SharedFuse fuse) : fuse_(std::move(fuse)) {}
  [[nodiscard]] std::uint64_t size() const override { return 1000; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {4}}}; }
  void read(Sample& out, const SampleContext& /*context*/) const override {
    out.field("image").resize_as<std::uint8_t>({4});
  }
  [[nodiscard]] std::vector<FileRange> files(SampleIndex /*index*/) const override {
    fuse_->pass();
    return {{.path = "/nowhere/sample", .bytes = FileRange::kToEnd}};
  }

 private:
  SharedFuse fuse_;
};

PipelineReplayer lost_replayer(const SharedFuse& fuse, IoMode io) {
  PipelineBuilder builder;
  builder.source("lost", {"read.lost", {}, std::make_shared<LostSource>(fuse)});
  return {builder.collate().copy().batch_size(4).build(),
          make_cpu_device(),
          idle_step(),
          {.io = io, .workers = 1}};
}

}  // namespace

TEST_CASE("a stage that throws while it runs is named, in workers and in the training thread") {
  for (const std::string& place : kPlaces) {
    for (const int workers : {0, 1, 2}) {
      for (const Thrown& thrown : all_thrown()) {
        CAPTURE(place);
        CAPTURE(workers);
        const auto fuse = std::make_shared<Fuse>();
        fuse->raise = thrown.raise;
        PipelineReplayer replayer(chain(place, fuse, workers), make_cpu_device(), idle_step());
        fuse->armed = true;
        check_named(error_of([&] { replayer.run({}, {}); }), "stage '" + place + "'", thrown);
        // Nothing is left over from the failure.
        if (place == "collate") continue;  // which makes no batch
        fuse->armed = false;
        CHECK_NOTHROW(replayer.run({}, {}));
      }
    }
  }
}

TEST_CASE("a stage that throws while the chain is made, opened or laid out is named") {
  for (const Thrown& thrown : all_thrown()) {
    const auto fuse = std::make_shared<Fuse>(Fuse{thrown.raise, true});
    check_named(error_of([&] { chain("callable_read", fuse, 1); }), "stage 'callable_read'",
                thrown);
    check_named(error_of([&] { chain("callable_process", fuse, 1); }), "stage 'callable_process'",
                thrown);
    class FailingOpen final : public SourceStage {
     public:
      explicit FailingOpen(const Thrown& what) : what_(&what) {}
      [[nodiscard]] std::uint64_t size() const override { return 1; }
      [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {1}}}; }
      void read(Sample& /*out*/, const SampleContext& /*context*/) const override {}
      void open() override { what_->raise(); }

     private:
      const Thrown* what_;
    };
    const auto open = [&] {
      PipelineBuilder builder;
      builder.source("closed", {"read.closed", {}, std::make_shared<FailingOpen>(thrown)});
      (void)builder.collate().copy().batch_size(1).build();
    };
    check_named(error_of(open), "stage 'closed'", thrown);
    const auto layout = [&] {
      PipelineBuilder builder;
      builder.source("read", toy_source({}));
      builder.stage("rows", {"collate.failing", {}, std::make_shared<FailingCollate>(fuse)});
      PipelineReplayer(builder.copy().batch_size(4).build(), make_cpu_device(), idle_step(),
                       {.workers = 0});
    };
    check_named(error_of(layout), "stage 'rows'", thrown);
  }
}

TEST_CASE("a stage that throws while the caches are filled is named") {
  for (const std::string& place : kPlaces) {
    CAPTURE(place);
    const Thrown& thrown = all_thrown().front();
    const auto fuse = std::make_shared<Fuse>();
    fuse->raise = thrown.raise;
    PipelineReplayer replayer(chain(place, fuse, 1), make_cpu_device(), idle_step());
    fuse->armed = true;
    check_named(error_of([&] { replayer.prepare({}, {}); }), "stage '" + place + "'", thrown);
  }
}

TEST_CASE("a source that runs out of memory while it names files is named") {
  const Thrown& no_memory = all_thrown().back();
  for (const IoMode io : {IoMode::as_is, IoMode::warm, IoMode::cold}) {
    const auto fuse = std::make_shared<Fuse>(Fuse{no_memory.raise});
    PipelineReplayer replayer = lost_replayer(fuse, io);
    fuse->armed = true;
    check_named(error_of([&] { replayer.prepare({}, {}); }), "stage 'lost'", no_memory);
    if (io == IoMode::warm) continue;  // whose live blocks need caches
    check_named(error_of([&] { replayer.run({}, {}); }), "stage 'lost'", no_memory);
  }
}

TEST_CASE("a source that cannot name files for another reason is left to its reading") {
  for (const Thrown& thrown : all_thrown()) {
    if (&thrown == &all_thrown().back()) continue;  // no memory
    PipelineReplayer replayer =
        lost_replayer(std::make_shared<Fuse>(Fuse{thrown.raise, true}), IoMode::cold);
    CHECK_NOTHROW(replayer.prepare({}, {}));
    CHECK_NOTHROW(replayer.run({}, {}));
  }
}

TEST_CASE("a training step that throws is named, whatever it was asked for") {
  const Pipeline pipeline = chain("", std::make_shared<Fuse>(), 1);
  for (const Thrown& thrown : all_thrown()) {
    const auto fuse = std::make_shared<Fuse>(Fuse{thrown.raise, true});
    for (const std::string where : {"expects", "snapshot", "restore", "step"}) {
      CAPTURE(where);
      const auto run = [&] {
        PipelineReplayer replayer(pipeline, make_cpu_device(),
                                  std::make_shared<FailingStep>(fuse, where));
        replayer.begin_round();
        replayer.run({}, {});
      };
      check_named(error_of(run), "training step 'broken'", thrown);
    }
    const auto device = make_cpu_device();
    FailingStep step(fuse, "loss");
    TrainLoop loop(pipeline, *device, step, {}, /*sync_every=*/1);
    Executor loader(pipeline, *device, {.workers = 1});
    const LoadGuard running(loader, {});
    check_named(error_of([&] { loop.run({&loader}, {}, {}); }), "training step 'broken'", thrown);
  }
}

TEST_CASE("an Error keeps its kind, and what is unknown takes the kind that is given") {
  const auto caught = [](const std::function<void()>& raise) {
    try {
      raise();
    } catch (...) {
      return current_error(ErrorKind::internal);
    }
    return Error(ErrorKind::gate, "nothing was thrown");
  };
  CHECK(caught([] { throw Error(ErrorKind::device, "x"); }).kind() == ErrorKind::device);
  CHECK(caught([] { throw std::bad_alloc(); }).kind() == ErrorKind::data);
  CHECK(caught([] { throw std::logic_error("x"); }).kind() == ErrorKind::internal);
  CHECK(caught([] { throw OwnType(); }).kind() == ErrorKind::internal);
}
