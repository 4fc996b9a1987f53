#include "cachebisect/replay/pipeline_replayer.hpp"

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/recording_step.hpp"
#include "tests/support/test_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/registry.hpp"

using namespace cachebisect;

namespace {

struct Failure {
  ErrorKind kind = ErrorKind::internal;
  std::string text;
  [[nodiscard]] bool says(const std::string& part) const {
    return text.find(part) != std::string::npos;
  }
};

Failure failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {ErrorKind::internal, "no error"};
}

BlockRequest block(const Arm& arm) { return {arm, 4, 1, 0}; }
Arm replay(int boundary) { return {ArmKind::replay, boundary, 0, {}}; }

struct Job {
  explicit Job(Pipeline pipeline, const ReplayOptions& options = {})
      : step(std::make_shared<test::RecordingStep>()),
        replayer(std::move(pipeline), make_cpu_device(), step, options) {}
  std::shared_ptr<test::RecordingStep> step;
  PipelineReplayer replayer;
};

PipelineSpec spec_for(const std::string& device) {
  PipelineSpec spec;
  spec.device = device;
  return spec;
}

class Demanding final : public TrainStep {
 public:
  [[nodiscard]] std::string name() const override { return "demanding"; }
  [[nodiscard]] std::vector<ExpectedField> expects() const override {
    return {{"mask", {DType::uint8}, "NCHW", 0, 0, 0}};
  }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override {}
};

}  // namespace

TEST_CASE("The chain is described as it runs") {
  Job job(test::random_chain({.workers = 2}));
  const ChainDescription d = job.replayer.describe();
  REQUIRE(d.stages.size() == 7);
  CHECK(d.stages[0].kind == StageKind::source);
  CHECK(d.stages[0].cacheable);
  CHECK(d.stages[1].random);
  CHECK_FALSE(d.stages[1].cacheable);
  CHECK_FALSE(d.stages[6].cacheable);  // downstream of a random stage
  CHECK(d.stages[1].output == "image uint8 [6, 6, 3], label int64 []");
  CHECK(d.stages[1].output_bytes == 6 * 6 * 3 + 8);
  CHECK(d.stages[4].output_bytes == 5 * 5 * 3 * 4 + 8);  // of one sample of the batch
  CHECK(d.stages[4].held == Held::host);
  CHECK(d.stages[5].held == Held::device);
  CHECK(d.workers == 2);
  CHECK(d.ring_slots == 5);
  CHECK(d.samples == 96);
  CHECK(d.device_kind == DeviceKind::cpu);
  CHECK(d.train == "recording");
  CHECK(d.weights_restored);
  CHECK(d.train_threads >= 1);
}

TEST_CASE("Which arms are supported") {
  Job job(test::random_chain({}));
  const PipelineReplayer& r = job.replayer;
  for (int boundary = 0; boundary <= 7; ++boundary) {
    CHECK(r.supports(replay(boundary)));
    CHECK(r.supports({ArmKind::null, boundary, 0, {}}));
  }
  CHECK_FALSE(r.supports(replay(8)));
  CHECK_FALSE(r.supports(replay(-1)));
  CHECK(r.supports({ArmKind::live, 0, 0, {}}));
  CHECK_FALSE(r.supports({ArmKind::live, 0, 0, {{"workers", "4"}}}));
  for (int stage = 1; stage <= 7; ++stage) CHECK(r.supports({ArmKind::bypass, 0, stage, {}}));
  CHECK_FALSE(r.supports({ArmKind::bypass, 0, 0, {}}));
  CHECK_FALSE(r.supports({ArmKind::bypass, 0, 8, {}}));
  CHECK(r.supports({ArmKind::shadow, 0, 0, {}}));
  CHECK_FALSE(Job(test::random_chain({.workers = 0})).replayer.supports({ArmKind::shadow}));
}

TEST_CASE("Beside a shadowed step the pipeline runs, and the step gets cached batches") {
  for (const bool emulated : {false, true}) {
    CAPTURE(emulated);
    const auto step = std::make_shared<test::RecordingStep>();
    std::shared_ptr<Device> device = make_cpu_device();
    std::shared_ptr<TrainStep> trained = step;
    if (emulated) {
      device = make_emulated_device({});
      trained = std::make_shared<test::TimedStep>(0.001);
    }
    PipelineReplayer replayer(test::random_chain({.workers = 2}), device, trained);
    replayer.prepare({}, {});
    replayer.run({replay(7), 20, 2, 0}, {});
    const auto alone = std::exchange(step->seen, {});
    const BlockResult result = replayer.run({{ArmKind::shadow}, 20, 2, 0}, {});
    CHECK(step->seen == alone);
    CHECK(result.samples == 20 * 8);
    CHECK(result.starved_seconds == 0);
    CHECK(result.ready_batches.has_value());
    REQUIRE(result.stages.size() == 7);
    CHECK(result.stages[5].samples <= 22 * 8);  // no more than one batch a step
  }
}

TEST_CASE("A shadowed step is beside as much loading as it lets go") {
  Job job(test::random_chain({.workers = 1}));
  job.replayer.prepare({}, {});
  job.step->then = [](const DeviceBatch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  BlockResult result = job.replayer.run({{ArmKind::shadow}, 20, 2, 0}, {});
  for (int tries = 0; tries < 100 && result.stages[6].samples == 0; ++tries) {
    result = job.replayer.run({{ArmKind::shadow}, 20, 2, 0}, {});  // the worker had no CPU at all
  }
  // The ring of four, and one slot more a step; not what a free-running loader would load.
  CHECK(result.stages[0].samples >= 8);
  CHECK(result.stages[0].samples <= (4 + 22 + 1) * 8);
  CHECK(result.stages[6].samples > 0);
}

TEST_CASE("A replay from the first cached samples serves no others") {
  Job job(test::random_chain({}));
  job.replayer.prepare({}, {});
  job.replayer.run({replay(7), 2, 1, 0}, {});
  const auto first = std::exchange(job.step->seen, {});
  for (int boundary = 1; boundary <= 7; ++boundary) {
    CAPTURE(boundary);
    Arm arm = replay(boundary);
    arm.cache_samples = 17;  // two batches
    job.replayer.run({arm, 5, 1, 0}, {});
    const auto seen = std::exchange(job.step->seen, {});
    for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == first[i % 2]);
  }
}

TEST_CASE("Live batches are as large as cached ones, however small the data set") {
  for (const std::uint64_t samples : {5ULL, 8ULL, 12ULL}) {
    for (const int workers : {0, 1, 2}) {
      CAPTURE(samples);
      CAPTURE(workers);
      const Pipeline pipeline = PipelineBuilder{}
                                    .source("read", samples, test::read_image)
                                    .collate()
                                    .copy()
                                    .batch_size(8)
                                    .workers(workers)
                                    .drop_last(false)
                                    .device("cpu")
                                    .build();
      Job job(pipeline);
      job.replayer.prepare({}, {});
      for (int boundary = 0; boundary <= 3; ++boundary) {
        CHECK(job.replayer.run({replay(boundary), 7, 2, 0}, {}).samples == 7 * 8);
      }
    }
  }
}

TEST_CASE("A stop ends a block on a device that stalls, and another block runs after it") {
  const auto step = std::make_shared<test::TimedStep>(10);
  PipelineReplayer replayer(test::random_chain({.workers = 2}), make_emulated_device({}), step);
  replayer.prepare({}, {});
  for (const int boundary : {0, 3, 7}) {
    CAPTURE(boundary);
    std::stop_source stop;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request_stop();
    });
    const double before = replayer.clock();
    const Failure failure = failure_of([&] {
      replayer.run({replay(boundary), 100, 2, 0}, stop.get_token());
    });
    CHECK(failure.kind == ErrorKind::interrupted);
    CHECK(replayer.clock() - before < 10);  // not even one step of 102
  }
}

TEST_CASE("What the tool itself costs is measured once") {
  for (const int workers : {0, 2}) {
    Job job(test::random_chain({.samples = 4096, .workers = workers}));
    CacheBudget budget;
    budget.host_bytes = 100'000;
    const CacheFacts facts = job.replayer.prepare(budget, {});
    REQUIRE(facts.floor_seconds_per_sample.has_value());
    REQUIRE(facts.floor_seconds_per_batch.has_value());
    CHECK(*facts.floor_seconds_per_sample + *facts.floor_seconds_per_batch > 0);
    const auto again = job.replayer.refill(0, {});
    REQUIRE(again.has_value());
    CHECK(again->floor_seconds_per_sample == facts.floor_seconds_per_sample);
    CHECK(again->floor_seconds_per_batch == facts.floor_seconds_per_batch);
  }
}

TEST_CASE("After a refill other samples are replayed, the same at every boundary") {
  Job job(test::random_chain({.samples = 4096}));
  CacheBudget budget;
  budget.host_bytes = 100'000;
  const CacheFacts facts = job.replayer.prepare(budget, {});
  const auto seen_at = [&](int boundary) {
    job.step->seen.clear();
    job.replayer.run(block(replay(boundary)), {});
    return std::exchange(job.step->seen, {});
  };
  const auto before = seen_at(7);
  const auto again = job.replayer.refill(0, {});
  REQUIRE(again.has_value());
  CHECK(again->samples == facts.samples);
  const auto after = seen_at(7);
  CHECK(after != before);
  for (int boundary = 1; boundary < 7; ++boundary) CHECK(seen_at(boundary) == after);
  CHECK_FALSE(job.replayer.refill(4096, {}).has_value());
  CHECK(seen_at(7) == after);
}

TEST_CASE("A block that is not observed has no stages' counters") {
  Job job(test::random_chain({}));
  job.replayer.prepare({}, {});
  for (int boundary = 0; boundary <= 7; ++boundary) {
    Arm arm = replay(boundary);
    CHECK(job.replayer.run(block(arm), {}).stages.size() == 7);
    arm.observed = false;
    CHECK(job.replayer.run(block(arm), {}).stages.empty());
  }
}

namespace {

class Locking final : public SampleStage {
 public:
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override { return input; }
  void process(const Sample& /*input*/, Sample& /*out*/,
               const SampleContext& context) const override {
    context.add_serial_seconds(0.25);
  }
};

}  // namespace

TEST_CASE("A stage's serial section is told as the stage reports it") {
  const auto pipeline = PipelineBuilder{}
                            .source("read", 64, test::read_image)
                            .stage("lock", {"custom.lock", {}, std::make_shared<Locking>()})
                            .collate()
                            .copy()
                            .batch_size(8)
                            .workers(0)
                            .device("cpu")
                            .build();
  Job job(pipeline);
  const BlockResult result = job.replayer.run(block({ArmKind::live}), {});
  CHECK(result.stages[0].serial_seconds == 0);
  CHECK(result.stages[1].serial_seconds == doctest::Approx(0.25 * 40));
  CHECK(result.stages[1].samples == 40);
}

TEST_CASE("What cannot be run is refused") {
  Job job(test::random_chain({}));
  CHECK(failure_of([&] { job.replayer.run(block(replay(1)), {}); }).says("before prepare"));
  job.replayer.prepare({}, {});
  const Failure failure = failure_of([&] { job.replayer.run(block(replay(9)), {}); });
  CHECK(failure.kind == ErrorKind::usage);
  CHECK(failure.says("replay at 9"));
}

TEST_CASE("A block says what it did") {
  Job job(test::random_chain({.workers = 1}));
  job.replayer.prepare({}, {});
  const double before = job.replayer.clock();
  const BlockResult live = job.replayer.run({{ArmKind::live, 0, 0, {}}, 6, 2, 0}, {});
  CHECK(live.start_seconds >= before);
  CHECK(live.steps == 6);
  CHECK(live.warmup_steps == 2);
  CHECK(live.samples == 48);
  CHECK(live.seconds > 0);
  CHECK(live.cpu_seconds >= 0);
  CHECK(live.starved_seconds >= 0);
  CHECK(live.first_batch_seconds > 0);
  REQUIRE(live.stages.size() == 7);
  CHECK(live.stages[0].samples >= 64);
  CHECK(live.stages[0].busy_seconds > 0);
  CHECK_FALSE(live.resident_share.has_value());
  const BlockResult cached = job.replayer.run({replay(3), 6, 2, 0}, {});
  CHECK(cached.stages[0].samples == 0);
  CHECK(cached.stages[3].samples >= 64);
  CHECK(job.replayer.run({replay(7), 6, 2, 0}, {}).starved_seconds == 0);
}

TEST_CASE("Weights go back to their start with each round") {
  Job job(test::random_chain({}));
  CHECK(job.step->snapshots == 1);
  job.replayer.prepare({}, {});
  job.replayer.begin_round();
  job.replayer.begin_round();
  CHECK(job.step->restores == 2);
}

TEST_CASE("An error names its stage and sample, and the next block runs") {
  bool broken = false;
  const auto pipeline = PipelineBuilder{}
                            .source("read", 64, test::read_image)
                            .stage("fragile",
                                   [&](const Sample&, Sample&) {
                                     if (broken) throw std::runtime_error("no such codec");
                                   })
                            .collate()
                            .copy()
                            .batch_size(8)
                            .workers(2)
                            .device("cpu")
                            .build();
  Job job(pipeline);
  job.replayer.prepare({}, {});
  broken = true;
  const Failure failure = failure_of([&] { job.replayer.run(block(replay(1)), {}); });
  CHECK(failure.kind == ErrorKind::data);
  CHECK(failure.says("in replay at boundary 1, behind 'read'"));
  CHECK(failure.says("stage 'fragile'"));
  CHECK(failure.says("sample "));
  CHECK(failure.says("no such codec"));
  CHECK(job.replayer.run(block(replay(2)), {}).samples == 32);
  broken = false;
  CHECK(job.replayer.run(block(replay(1)), {}).samples == 32);
}

TEST_CASE("A stop ends a block at every boundary") {
  Job job(test::random_chain({}));
  job.replayer.prepare({}, {});
  std::stop_source stop;
  stop.request_stop();
  for (int boundary = 0; boundary <= 7; ++boundary) {
    const Failure failure =
        failure_of([&] { job.replayer.run(block(replay(boundary)), stop.get_token()); });
    CHECK(failure.kind == ErrorKind::interrupted);
  }
  CHECK(job.replayer.run(block(replay(3)), {}).samples == 32);
}

TEST_CASE("A stop reaches a block that waits for a slow loader") {
  std::stop_source stop;
  bool slow = false;
  const auto pipeline = PipelineBuilder{}
                            .source("read", 64, test::read_image)
                            .stage("slow",
                                   [&](const Sample&, Sample&) {
                                     if (!slow) return;
                                     stop.request_stop();
                                     std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                   })
                            .collate()
                            .copy()
                            .batch_size(8)
                            .workers(1)
                            .device("cpu")
                            .build();
  for (const int workers : {0, 2}) {
    slow = false;
    stop = std::stop_source();
    Job job(pipeline, {IoMode::as_is, workers});
    job.replayer.prepare({}, {});
    slow = true;
    const Failure failure = failure_of([&] {
      job.replayer.run({replay(1), 100000, 1, 0}, stop.get_token());
    });
    CHECK(failure.kind == ErrorKind::interrupted);
  }
}

TEST_CASE("What the step expects is checked before anything runs") {
  const Failure failure = failure_of([] {
    PipelineReplayer(test::random_chain({}), make_cpu_device(), std::make_shared<Demanding>());
  });
  CHECK(failure.kind == ErrorKind::usage);
  CHECK(failure.says("mask"));
}

TEST_CASE("Two replayers run in one process") {
  Job one(test::random_chain({.seed = 1}));
  Job two(test::random_chain({.seed = 2}));
  one.replayer.prepare({}, {});
  two.replayer.prepare({}, {});
  std::jthread beside([&] {
    for (int boundary = 0; boundary <= 7; ++boundary) two.replayer.run(block(replay(boundary)), {});
  });
  for (int boundary = 0; boundary <= 7; ++boundary) {
    CHECK(one.replayer.run(block(replay(boundary)), {}).samples == 32);
  }
}

TEST_CASE("Devices by name") {
  CHECK(make_device(spec_for("cpu"))->kind() == DeviceKind::cpu);
  PipelineSpec spec = spec_for("emulated");
  spec.emulate = EmulateSpec{};
  spec.emulate->copy_gb_per_s = 50;
  CHECK(make_device(spec)->info().copy_gb_per_s == 50);
  CHECK(make_device(spec_for("emulated"))->kind() == DeviceKind::emulated);
  const DeviceKind automatic = make_device(spec_for("auto"))->kind();
  CHECK(automatic == (cuda_device_count() > 0 ? DeviceKind::cuda : DeviceKind::cpu));
  for (const std::string name : {"gpu", "cuda:", "cuda:-1", "cuda:x", "cuda7", "cudax:1"}) {
    CAPTURE(name);
    CHECK(failure_of([&] { make_device(spec_for(name)); }).kind == ErrorKind::usage);
  }
  if (cuda_device_count() == 0) {
    CHECK(failure_of([&] { make_device(spec_for("cuda")); }).kind == ErrorKind::device);
  }
}

TEST_CASE("Steps by spec") {
  const Registry registry;
  const Pipeline pipeline = test::random_chain({});
  const auto emulated = make_emulated_device({});
  CHECK(make_train_step(pipeline, *emulated, 1, registry)->name() == "emulated");
  const auto cpu = make_cpu_device();
  const Failure callback = failure_of([&] { make_train_step(pipeline, *cpu, 1, registry); });
  CHECK(callback.kind == ErrorKind::usage);
  CHECK(callback.says("callback"));
}

TEST_CASE("Workers by trial are within the machine's") {
  const Pipeline pipeline = test::random_chain({.workers = kAutoWorkers});
  const auto device = make_cpu_device();
  const int workers = resolve_workers(pipeline, *device);
  CHECK(workers >= 1);
  CHECK(workers <= static_cast<int>(std::thread::hardware_concurrency()));
}
