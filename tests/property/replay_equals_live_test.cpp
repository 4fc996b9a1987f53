// At every boundary, worker count and seed, the batches that reach the training step are those of
// the live pipeline, bit for bit.
#include <memory>
#include <utility>

#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;
using test::ChainOptions;
using test::RecordingStep;
using test::SeenBatch;

namespace {

constexpr int kWarmup = 2;
constexpr int kSteps = 15;            // 17 batches from a cache of 7, so that it wraps around
constexpr int kReplayedSamples = 56;  // the cache holds all, whatever is in flight

/// The reference: one sample at a time, stage by stage, in this thread.
std::vector<std::string> reference_images(const Pipeline& pipeline,
                                          const std::vector<std::uint64_t>& indices) {
  std::vector<std::string> images;
  Arena arena;
  for (const std::uint64_t index : indices) {
    Sample current;
    for (std::size_t i = 0; i < pipeline.collate_position(); ++i) {
      const ChainStage& stage = pipeline.stages()[i];
      const SampleContext context({pipeline.spec().seed, 0, index, stage.random_key}, arena);
      Sample out;
      if (i == 0) {
        out.set_index({index});
        pipeline.source().read(out, context);
      } else {
        out.begin_from(current);
        dynamic_cast<const SampleStage&>(*stage.stage).process(current, out, context);
      }
      Sample own;  // `out` may be a view of fields of `current`
      own.copy_from(out);
      current = std::move(own);
    }
    const Field& image = current.field("image");
    images.emplace_back(reinterpret_cast<const char*>(image.data()), image.byte_size());
  }
  return images;
}

struct Job {
  explicit Job(Pipeline pipeline, IoMode io = IoMode::warm)
      : step(std::make_shared<RecordingStep>()),
        replayer(std::move(pipeline), make_cpu_device(), step,
                 ReplayOptions{.io = io, .keep_queues = false}) {
    replayer.prepare({}, {});
  }

  std::vector<SeenBatch> run(const Arm& arm) {
    step->seen.clear();
    const BlockResult result = replayer.run({arm, kSteps, kWarmup, 0}, {});
    CHECK(result.samples == kSteps * static_cast<std::uint64_t>(replayer.describe().batch_size));
    return std::exchange(step->seen, {});
  }

  std::shared_ptr<RecordingStep> step;
  PipelineReplayer replayer;
};

/// `live`: the first blocks of the live loop, the same for all; empty: not known yet.
void check_all_boundaries(const ChainOptions& options, std::vector<std::vector<SeenBatch>>& live) {
  constexpr std::size_t blocks = 4;
  Job alone(test::random_chain(options));
  std::vector<std::vector<SeenBatch>> reference;
  for (std::size_t i = 0; i < blocks; ++i) {
    reference.push_back(alone.run({ArmKind::live, 0, 0, {}}));
    CHECK(reference.back().size() == kWarmup + kSteps);
  }
  if (live.empty()) live = reference;
  CHECK(reference == live);
  CHECK(live[0] != live[1]);  // the position advances
  Job job(test::random_chain(options));
  const auto last = static_cast<int>(job.replayer.describe().stages.size());
  for (int boundary = 0; boundary <= last; ++boundary) {
    for (std::size_t i = 0; i < blocks; i += 2) {
      CAPTURE(boundary);
      CAPTURE(i);
      CHECK(job.run({ArmKind::replay, boundary, 0, {}}) == reference[i]);
      CHECK(job.run({ArmKind::null, boundary, 0, {}}) == reference[i + 1]);
      job.replayer.begin_round();
    }
  }
}

}  // namespace

TEST_CASE("replay at every boundary equals live at any worker count and seed, with both loaders") {
  for (const std::uint64_t seed : {1ULL, 2ULL, 77ULL}) {
    std::vector<std::vector<SeenBatch>> live;  // the same for all worker counts and loaders
    for (const LoaderKind loader : kLoaderKinds) {
      for (const int workers : {0, 1, 2, 4}) {
        CAPTURE(seed);
        CAPTURE(to_string(loader));
        CAPTURE(workers);
        check_all_boundaries(
            {.samples = kReplayedSamples, .workers = workers, .seed = seed, .loader = loader},
            live);
      }
    }
  }
}

TEST_CASE("replay equals live with batch stages, without device stages, and in batches of one") {
  std::vector<std::vector<SeenBatch>> batched;
  std::vector<std::vector<SeenBatch>> plain;
  std::vector<std::vector<SeenBatch>> single;
  for (const LoaderKind loader : kLoaderKinds) {
    check_all_boundaries(
        {.samples = kReplayedSamples, .workers = 2, .batch_stage = true, .loader = loader},
        batched);
    check_all_boundaries(
        {.samples = kReplayedSamples, .workers = 1, .device_stage = false, .loader = loader},
        plain);
    check_all_boundaries({.samples = 20, .batch_size = 1, .workers = 2, .loader = loader}, single);
  }
}

TEST_CASE("different seeds give different draws") {
  Job one(test::random_chain({.seed = 1}));
  Job two(test::random_chain({.seed = 2}));
  CHECK(one.run({ArmKind::live, 0, 0, {}}) != two.run({ArmKind::live, 0, 0, {}}));
}

TEST_CASE("the step receives what the stages give when called one by one") {
  const ChainOptions options{.device_stage = false};
  const Pipeline pipeline = test::random_chain(options);
  Job job(pipeline);
  for (const SeenBatch& batch : job.run({ArmKind::replay, 1, 0, {}})) {
    const auto images = reference_images(pipeline, batch.indices);
    const std::size_t bytes = images.front().size();
    for (std::size_t row = 0; row < images.size(); ++row) {
      // The batch is NCHW, the reference HWC.
      const auto* got = reinterpret_cast<const float*>(batch.bytes[0].data() + row * bytes);
      const auto* meant = reinterpret_cast<const float*>(images[row].data());
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t i = 0; i < 25; ++i) REQUIRE(got[c * 25 + i] == meant[i * 3 + c]);
      }
    }
  }
}

TEST_CASE("the bypass of a stage gives the batches of the live pipeline") {
  for (const LoaderKind loader : kLoaderKinds) {
    Job job(test::random_chain({.batch_stage = true, .loader = loader}));
    const auto live = job.run({ArmKind::live, 0, 0, {}});
    for (int stage = 1; stage <= 9; ++stage) {
      CAPTURE(stage);
      CHECK(job.run({ArmKind::bypass, 0, stage, {}}) == live);
    }
  }
}

TEST_CASE("a shadowed step trains on the batches of the live pipeline") {
  for (const LoaderKind loader : kLoaderKinds) {
    for (const int workers : {1, 2, 4}) {
      CAPTURE(workers);
      Job job(test::random_chain({.workers = workers, .batch_stage = true, .loader = loader}));
      CHECK(job.run({ArmKind::shadow}) == job.run({ArmKind::live}));
    }
  }
}

TEST_CASE("live blocks read as-is take the next samples, none twice in an epoch") {
  Job job(test::random_chain({.samples = 4000, .batch_size = 8}), IoMode::as_is);
  std::vector<bool> taken(4000, false);
  for (int block = 0; block < 10; ++block) {
    for (const SeenBatch& batch : job.run({ArmKind::live, 0, 0, {}})) {
      for (const std::uint64_t index : batch.indices) {
        CHECK_FALSE(taken.at(index));
        taken.at(index) = true;
      }
    }
    job.replayer.begin_round();
  }
}
