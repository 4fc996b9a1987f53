// Arms go on where they were: their queues are kept from block to block.
#include "cachebisect/replay/kept_loaders.hpp"

#include <algorithm>
#include <set>

#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;

namespace {

Arm replay_at(int boundary) { return {.boundary = boundary}; }

struct KeptJob {
  explicit KeptJob(Pipeline pipeline)
      : step(std::make_shared<test::RecordingStep>()),
        replayer(std::move(pipeline), make_cpu_device(), step) {}

  BlockResult run(const Arm& arm, int warmup = 1) {
    step->seen.clear();
    return replayer.run({arm, 4, warmup, 0}, {});
  }
  /// The samples of the last block.
  [[nodiscard]] std::set<std::uint64_t> samples() const {
    std::set<std::uint64_t> all;
    for (const test::SeenBatch& batch : step->seen) {
      all.insert(batch.indices.begin(), batch.indices.end());
    }
    return all;
  }

  std::shared_ptr<test::RecordingStep> step;
  PipelineReplayer replayer;
};

/// The untimed steps that the replayer adds.
int settling(KeptJob& job, const Arm& arm) { return job.run(arm).warmup_steps - 1; }

}  // namespace

TEST_CASE("only the first block of an arm settles, each arm for itself") {
  KeptJob job(test::random_chain({.workers = 2}));
  job.replayer.prepare({}, {});
  CHECK(job.replayer.describe().keeps_queues);
  // Five slots; no workers load batches that are ready.
  for (const Arm& arm : {replay_at(0), replay_at(2), Arm{.kind = ArmKind::bypass, .stage = 2},
                         Arm{.kind = ArmKind::shadow}, replay_at(4)}) {
    CHECK(settling(job, arm) == 5);
    CHECK(settling(job, arm) == 0);
  }
  CHECK(settling(job, replay_at(7)) == 0);
  // A null block is another one of the same arm.
  CHECK(settling(job, {.kind = ArmKind::null, .boundary = 2}) == 0);
  CHECK(settling(job, {.boundary = 2, .observed = false}) == 0);
  CHECK(settling(job, {.boundary = 2, .cache_samples = 16}) == 5);
}

TEST_CASE("without workers nothing is kept, and nothing has to settle") {
  KeptJob job(test::random_chain({.workers = 0}));
  job.replayer.prepare({}, {});
  CHECK_FALSE(job.replayer.describe().keeps_queues);
  CHECK(settling(job, replay_at(0)) == 0);
}

TEST_CASE("live reads no sample twice in an epoch, however often it is suspended") {
  KeptJob job(test::random_chain({.samples = 4096, .workers = 3}));
  job.replayer.prepare({}, {});
  std::set<std::uint64_t> seen;
  std::size_t count = 0;
  for (int block = 0; block < 20; ++block) {
    job.run(replay_at(0));
    job.run(replay_at(2));
    job.run(replay_at(0));
    const auto samples = job.samples();
    seen.insert(samples.begin(), samples.end());
    count += samples.size();
  }
  CHECK(seen.size() == count);
}

TEST_CASE("after a refill every queue begins anew, with the new samples alone") {
  KeptJob job(test::random_chain({.samples = 4096, .workers = 2}));
  CacheBudget budget;
  budget.host_bytes = 100'000;
  job.replayer.prepare(budget, {});
  job.run(replay_at(7));
  job.run(replay_at(7));
  const auto old = job.samples();
  for (int boundary = 1; boundary < 7; ++boundary) job.run(replay_at(boundary));
  REQUIRE(job.replayer.refill(0, {}).has_value());
  for (int boundary = 1; boundary < 7; ++boundary) {
    CHECK(settling(job, replay_at(boundary)) == (boundary <= 4 ? 5 : 0));
    for (const std::uint64_t sample : job.samples()) CHECK_FALSE(old.contains(sample));
  }
}

TEST_CASE("batches that are views of the cache do not outlive what they show") {
  KeptJob job(test::random_chain({.samples = 4096, .workers = 2, .batch_stage = true}));
  job.replayer.prepare({}, {});
  // Behind collate, two stages of whole batches: the first is served as a view.
  for (int boundary = 1; boundary <= 6; ++boundary) job.run(replay_at(boundary));
  REQUIRE(job.replayer.freshen(64, {}));
  for (int boundary = 1; boundary <= 6; ++boundary) {
    CAPTURE(boundary);
    CHECK(settling(job, replay_at(boundary)) == (boundary == 5 || boundary == 6 ? 5 : 0));
  }
}

TEST_CASE("rings that do not fit into memory are not kept") {
  const Pipeline pipeline = test::random_chain({.workers = 2});
  const auto device = make_cpu_device();
  KeptLoaders some(pipeline, *device, {.workers = 2});
  CHECK(some.fit());
  // Of 2^30 slots no memory is enough, and none is touched.
  KeptLoaders none(pipeline, *device, {.workers = 2, .prefetch = 1 << 30});
  CHECK_FALSE(none.fit());
  CHECK(none.find(replay_at(0)) == nullptr);
  CHECK(some.find(replay_at(0)) == some.find({.kind = ArmKind::live}));
  CHECK(some.find(replay_at(0)) != some.find(replay_at(1)));
}
