// Unseen blocks: no stage after the boundary has had a sample before.
#include <map>
#include <mutex>

#include "support/errors.hpp"
#include "support/recording_step.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;

namespace {

/// How often a stage has had each sample.
class Visits {
 public:
  void add(std::uint64_t sample) {
    const std::lock_guard lock(mutex_);
    ++counts_[sample];
  }
  [[nodiscard]] int most() const {
    int most = 0;
    for (const auto& [sample, count] : counts_) most = std::max(most, count);
    return most;
  }
  [[nodiscard]] std::size_t samples() const { return counts_.size(); }
  [[nodiscard]] const std::map<std::uint64_t, int>& counts() const { return counts_; }
  void clear() { counts_.clear(); }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, int> counts_;
};

struct UnseenJob {
  explicit UnseenJob(int workers, std::uint64_t samples = 4096)
      : replayer(
            PipelineBuilder{}
                .source("read", samples,
                        [this](SampleIndex i, Sample& out) {
                          before.add(i.value);
                          out.field("x").set<std::int64_t>(static_cast<std::int64_t>(i.value));
                        })
                .stage("after", [this](const Sample& in, Sample&) { after.add(in.index().value); })
                .collate()
                .copy()
                .batch_size(4)
                .workers(workers)
                .build(),
            make_cpu_device(), step) {}

  Visits before;
  Visits after;
  std::shared_ptr<test::RecordingStep> step = std::make_shared<test::RecordingStep>();
  PipelineReplayer replayer;
};

constexpr int kUnseenSteps = 6;
Arm unseen() { return {.kind = ArmKind::unseen, .boundary = 1}; }

}  // namespace

TEST_CASE("a stage gets each sample of unseen blocks for the first and only time") {
  for (const int workers : {0, 1, 3}) {
    CAPTURE(workers);
    UnseenJob job(workers);
    job.after.clear();  // of a few samples that told the shapes
    job.replayer.prepare({}, {});
    for (int round = 0; round < 4; ++round) {
      job.replayer.begin_round();
      for (const Arm& arm : {Arm{}, Arm{.boundary = 1}, unseen(), Arm{.boundary = 2}, unseen()}) {
        const std::map<std::uint64_t, int> earlier = job.after.counts();
        job.after.clear();
        const BlockResult result = job.replayer.run({arm, kUnseenSteps, 2, 0}, {});
        CHECK(result.steps == kUnseenSteps);
        CHECK(result.samples == kUnseenSteps * 4);
        if (arm.kind == ArmKind::unseen) {
          CHECK(job.after.most() == 1);
          CHECK(job.after.samples() >= static_cast<std::size_t>(result.samples));
          CHECK(result.stages.at(0).samples == 0);
          CHECK(result.stages.at(1).samples > 0);
          for (const auto& [sample, count] : job.after.counts()) {
            REQUIRE_FALSE(earlier.contains(sample));
          }
        }
        for (const auto& [sample, count] : earlier) job.after.add(sample);
      }
    }
  }
}

TEST_CASE("unseen blocks get shorter where the epoch ends, and then are not supported") {
  UnseenJob job(1, 160);
  job.replayer.prepare({}, {});
  int blocks = 0;
  while (job.replayer.supports(unseen())) {
    job.after.clear();
    const BlockResult result = job.replayer.run({unseen(), kUnseenSteps, 2, 0}, {});
    CHECK(result.steps >= 1);
    CHECK(result.steps <= kUnseenSteps);
    CHECK(job.after.most() == 1);
    ++blocks;
  }
  CHECK(blocks >= 1);
  // What is free may change between the question and the block.
  CHECK(job.replayer.run({unseen(), kUnseenSteps, 2, 0}, {}).steps >= 1);
}

TEST_CASE("a stop while samples are loaded leaves a replayer that can go on") {
  UnseenJob job(1);
  job.replayer.prepare({}, {});
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = [&] { job.replayer.run({unseen(), kUnseenSteps, 2, 0}, stop.get_token()); };
  CHECK_FALSE(test::error_message(stopped, ErrorKind::interrupted).empty());
  CHECK(job.replayer.run({unseen(), kUnseenSteps, 2, 0}, {}).steps == kUnseenSteps);
  CHECK(job.replayer.run({Arm{}, kUnseenSteps, 2, 0}, {}).steps == kUnseenSteps);
}
