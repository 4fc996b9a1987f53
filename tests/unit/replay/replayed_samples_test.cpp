// The blocks of a boundary in one super-round serve different samples.
#include <cstdint>
#include <mutex>
#include <set>

#include "support/recording_step.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;

namespace {

constexpr int kBatch = 4;
constexpr int kWarmup = 2;
constexpr int kSteps = 6;
constexpr int kBlocks = 3;
constexpr std::uint64_t kCached = kBlocks * (kWarmup + kSteps) * kBatch;

class ReplayJob {
 public:
  explicit ReplayJob(int workers)
      : replayer(PipelineBuilder{}
                     .source("read", 4096,
                             [](SampleIndex i, Sample& out) {
                               out.field("x").set<std::int64_t>(static_cast<std::int64_t>(i.value));
                             })
                     .stage("after", [this](const Sample& in, Sample&) { add(in.index().value); })
                     .collate()
                     .copy()
                     .batch_size(kBatch)
                     .workers(workers)
                     .build(),
                 make_cpu_device(), std::make_shared<test::RecordingStep>()) {
    replayer.prepare({}, {});
    CHECK(replayer.freshen(kCached, {}));
    served_.clear();
  }

  std::size_t served() {
    const std::scoped_lock lock(mutex_);
    return served_.size();
  }

 private:
  void add(std::uint64_t sample) {
    const std::scoped_lock lock(mutex_);
    served_.insert(sample);
  }

  std::mutex mutex_;
  std::set<std::uint64_t> served_;

 public:
  PipelineReplayer replayer;
};

}  // namespace

TEST_CASE("three blocks of a boundary serve all that was cached for them") {
  for (const int workers : {0, 1, 2}) {
    CAPTURE(workers);
    ReplayJob job(workers);
    job.replayer.begin_round();
    for (int i = 0; i < kBlocks; ++i) {
      static_cast<void>(job.replayer.run({{.boundary = 1}, kSteps, kWarmup, 0}, {}));
      static_cast<void>(job.replayer.run({{.boundary = 2}, kSteps, kWarmup, 0}, {}));
    }
    CHECK(job.served() == kCached);
  }
}
