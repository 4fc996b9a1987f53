#include "cachebisect/replay/pipeline_replayer.hpp"

#include <set>
#include <string>
#include <thread>
#include <utility>

#include "support/errors.hpp"
#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::error_message;
using test::has;
using test::usage_error;

namespace {

BlockRequest block(const Arm& arm) { return {arm, 4, 1, 0}; }
Arm replay(int boundary) { return {ArmKind::replay, boundary, 0, {}}; }

struct ReplayerJob {
  explicit ReplayerJob(Pipeline pipeline, const ReplayOptions& options = {})
      : step(std::make_shared<test::RecordingStep>()),
        replayer(std::move(pipeline), make_cpu_device(), step, options) {}
  std::shared_ptr<test::RecordingStep> step;
  PipelineReplayer replayer;
};

class Demanding final : public TrainStep {
 public:
  [[nodiscard]] std::string name() const override { return "demanding"; }
  [[nodiscard]] std::vector<ExpectedField> expects() const override {
    return {{"mask", {DType::uint8}, "NCHW", 0, 0, 0}};
  }
  void step(const DeviceBatch& /*batch*/, const StepContext& /*context*/) override {}
};

}  // namespace

TEST_CASE("the chain is described as it runs") {
  ReplayerJob job(test::random_chain({.workers = 2}));
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

TEST_CASE("supports() tells which arms can run") {
  ReplayerJob job(test::random_chain({}));
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
  CHECK_FALSE(ReplayerJob(test::random_chain({.workers = 0})).replayer.supports({ArmKind::shadow}));
}

TEST_CASE("unseen blocks need filled caches, and a boundary between two stages of samples") {
  ReplayerJob job(test::random_chain({}));
  const PipelineReplayer& r = job.replayer;
  CHECK_FALSE(r.supports({.kind = ArmKind::unseen, .boundary = 1}));
  job.replayer.prepare({}, {});
  CHECK_FALSE(r.supports({.kind = ArmKind::unseen, .boundary = 0}));
  CHECK_FALSE(r.supports({.kind = ArmKind::unseen, .boundary = 5}));
}

TEST_CASE("the pipeline runs alongside a shadowed step, which gets cached batches") {
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
    step->seen.clear();
    replayer.run({replay(7), 20, 2, 0}, {});
    const auto alone = std::exchange(step->seen, {});
    replayer.run({{ArmKind::shadow}, 20, 2, 0}, {});
    step->seen.clear();
    const BlockResult result = replayer.run({{ArmKind::shadow}, 20, 2, 0}, {});
    CHECK(step->seen == alone);
    CHECK(result.samples == 20 * 8);
    CHECK(result.starved_seconds == 0);
    CHECK(result.ready_batches.has_value());
    REQUIRE(result.stages.size() == 7);
    CHECK(result.stages[5].samples <= 22 * 8);  // at most one batch per step
  }
}

TEST_CASE("loading alongside a shadowed step is limited by the step") {
  ReplayerJob job(test::random_chain({.workers = 1}));
  job.replayer.prepare({}, {});
  job.step->then = [](const DeviceBatch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  job.replayer.run({{ArmKind::shadow}, 1, 1, 0}, {});
  BlockResult result = job.replayer.run({{ArmKind::shadow}, 20, 2, 0}, {});
  for (int tries = 0; tries < 100 && result.stages[6].samples == 0; ++tries) {
    result = job.replayer.run({{ArmKind::shadow}, 20, 2, 0}, {});  // the worker had no CPU at all
  }
  // The ring of four and one more slot per step, fewer than a free-running loader would load.
  CHECK(result.stages[0].samples >= 8);
  CHECK(result.stages[0].samples <= (4 + 22 + 1) * 8);
  CHECK(result.stages[6].samples > 0);
}

TEST_CASE("a replay limited to the first cached samples serves no others") {
  ReplayerJob job(test::random_chain({}));
  job.replayer.prepare({}, {});
  job.replayer.run({replay(7), 2, 1, 0}, {});
  const auto first = std::exchange(job.step->seen, {});
  std::set<std::uint64_t> of_two_batches(first[0].indices.begin(), first[0].indices.end());
  of_two_batches.insert(first[1].indices.begin(), first[1].indices.end());
  for (int boundary = 1; boundary <= 7; ++boundary) {
    CAPTURE(boundary);
    Arm arm = replay(boundary);
    arm.cache_samples = 17;  // two batches
    job.replayer.run({arm, 5, 1, 0}, {});
    const auto seen = std::exchange(job.step->seen, {});
    for (const test::SeenBatch& batch : seen) {
      for (const std::uint64_t index : batch.indices) CHECK(of_two_batches.contains(index));
    }
  }
}

TEST_CASE("live batches are as large as cached ones however small the data set is") {
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
      ReplayerJob job(pipeline);
      job.replayer.prepare({}, {});
      for (int boundary = 0; boundary <= 3; ++boundary) {
        CHECK(job.replayer.run({replay(boundary), 7, 2, 0}, {}).samples == 7 * 8);
      }
    }
  }
}

TEST_CASE("a stop request ends a block on a device that stalls, and the next block runs") {
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
    CHECK(error_message(
              [&] {
                replayer.run({replay(boundary), 100, 2, 0}, stop.get_token());
              },
              ErrorKind::interrupted) != "");
    CHECK(replayer.clock() - before < 10);  // less than one of the 102 steps
  }
}

TEST_CASE("the tool's own cost is measured once") {
  for (const int workers : {0, 2}) {
    ReplayerJob job(test::random_chain({.samples = 4096, .workers = workers}));
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

TEST_CASE("after a refill other samples are replayed, the same at every boundary") {
  ReplayerJob job(test::random_chain({.samples = 4096}), {.keep_queues = false});
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
  Arm all = replay(7);
  all.cache_samples = 1 << 20;  // an arm of its own, which begins with the first batch
  job.step->seen.clear();
  job.replayer.run(block(all), {});
  CHECK(job.step->seen == after);
}

TEST_CASE("a block without observation has no stage counters") {
  ReplayerJob job(test::random_chain({}));
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

TEST_CASE("the serial section of a stage is counted as the stage reports it") {
  const auto pipeline = PipelineBuilder{}
                            .source("read", 64, test::read_image)
                            .stage("lock", {"custom.lock", {}, std::make_shared<Locking>()})
                            .collate()
                            .copy()
                            .batch_size(8)
                            .workers(0)
                            .device("cpu")
                            .build();
  ReplayerJob job(pipeline);
  const BlockResult result = job.replayer.run(block({ArmKind::live}), {});
  CHECK(result.stages[0].serial_seconds == 0);
  CHECK(result.stages[1].serial_seconds == doctest::Approx(0.25 * 40));
  CHECK(result.stages[1].samples == 40);
}

TEST_CASE("an arm that cannot run is refused") {
  ReplayerJob job(test::random_chain({}));
  CHECK(has(error_message([&] { job.replayer.run(block(replay(1)), {}); }, ErrorKind::internal),
            "before prepare"));
  job.replayer.prepare({}, {});
  const std::string text = usage_error([&] { job.replayer.run(block(replay(9)), {}); });
  CHECK(has(text, "replay at 9"));
}

TEST_CASE("a block result has every figure") {
  ReplayerJob job(test::random_chain({.workers = 1}));
  job.replayer.prepare({}, {});
  const double before = job.replayer.clock();
  const BlockResult live = job.replayer.run({{ArmKind::live, 0, 0, {}}, 6, 2, 0}, {});
  CHECK(live.start_seconds >= before);
  CHECK(live.steps == 6);
  CHECK(live.warmup_steps == 2 + 4);  // the ring of four slots was empty
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

TEST_CASE("weights are restored at the start of each round") {
  ReplayerJob job(test::random_chain({}));
  CHECK(job.step->snapshots == 1);
  job.replayer.prepare({}, {});
  job.replayer.begin_round();
  job.replayer.begin_round();
  CHECK(job.step->restores == 2);
}

TEST_CASE("an error names its stage and sample, and the next block runs") {
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
  ReplayerJob job(pipeline);
  job.replayer.prepare({}, {});
  broken = true;
  const std::string text =
      error_message([&] { job.replayer.run(block(replay(1)), {}); }, ErrorKind::data);
  CHECK(has(text, "in replay at boundary 1, after 'read'"));
  CHECK(has(text, "stage 'fragile'"));
  CHECK(has(text, "sample "));
  CHECK(has(text, "no such codec"));
  CHECK(job.replayer.run(block(replay(2)), {}).samples == 32);
  broken = false;
  CHECK(job.replayer.run(block(replay(1)), {}).samples == 32);
}

TEST_CASE("a stop request ends a block at every boundary") {
  ReplayerJob job(test::random_chain({}));
  job.replayer.prepare({}, {});
  std::stop_source stop;
  stop.request_stop();
  for (int boundary = 0; boundary <= 7; ++boundary) {
    CHECK(error_message([&] { job.replayer.run(block(replay(boundary)), stop.get_token()); },
                        ErrorKind::interrupted) != "");
  }
  CHECK(job.replayer.run(block(replay(3)), {}).samples == 32);
}

TEST_CASE("a stop request ends a block that waits for a slow loader") {
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
    ReplayerJob job(pipeline, {IoMode::as_is, workers});
    job.replayer.prepare({}, {});
    slow = true;
    CHECK(error_message(
              [&] {
                job.replayer.run({replay(1), 100000, 1, 0}, stop.get_token());
              },
              ErrorKind::interrupted) != "");
  }
}

TEST_CASE("the step's expectations are checked before anything runs") {
  const std::string text = usage_error([] {
    PipelineReplayer(test::random_chain({}), make_cpu_device(), std::make_shared<Demanding>());
  });
  CHECK(has(text, "mask"));
}

TEST_CASE("two replayers run in one process") {
  ReplayerJob one(test::random_chain({.seed = 1}));
  ReplayerJob two(test::random_chain({.seed = 2}));
  one.replayer.prepare({}, {});
  two.replayer.prepare({}, {});
  std::jthread other([&] {
    for (int boundary = 0; boundary <= 7; ++boundary) two.replayer.run(block(replay(boundary)), {});
  });
  for (int boundary = 0; boundary <= 7; ++boundary) {
    CHECK(one.replayer.run(block(replay(boundary)), {}).samples == 32);
  }
}
