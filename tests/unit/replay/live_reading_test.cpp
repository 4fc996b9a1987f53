// What live blocks read: nothing that the run has read before, and how warm it was.
#include "cachebisect/replay/reading/live_reading.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "support/errors.hpp"
#include "support/file_source.hpp"
#include "support/lacking.hpp"
#include "support/recording_step.hpp"
#include "support/text.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/job/open_job.hpp"

using namespace cachebisect;
using test::FileSource;

namespace {

const BlockRequest kLive{{ArmKind::replay, 0, 0, {}}, 4, 1, 0};

Job open_files(const std::shared_ptr<FileSource>& source, IoMode io = IoMode::as_is,
               bool drop_last = true) {
  Job job = open_job(test::over_files(source, drop_last), nullptr,
                     {.io = io, .step = std::make_shared<test::RecordingStep>(), .order_nonce = 3});
  (void)source->take_read();
  return job;
}

bool overlap(const std::set<std::uint64_t>& earlier, const std::vector<std::uint64_t>& now) {
  return std::any_of(now.begin(), now.end(),
                     [&](std::uint64_t index) { return earlier.count(index) > 0; });
}

/// False, with a message, if the temporary folder keeps its pages.
bool evicted(const FileSource& source) {
  std::vector<SampleIndex> all;
  for (std::uint64_t i = 0; i < source.size(); ++i) all.push_back({i});
  Residency residency;
  residency.evict(source, all);
  if (residency.share(source, all) == 0.0) return true;
  MESSAGE("the temporary folder keeps its pages; not tested here");
  return false;
}

}  // namespace

TEST_CASE("live blocks read nothing that filling, refilling or another replayer has read") {
  for (const bool drop_last : {true, false}) {
    CAPTURE(drop_last);
    const auto source = std::make_shared<FileSource>(1203, 100);
    const Job job = open_files(source, IoMode::as_is, drop_last);
    PipelineReplayer filling = job.make_replayer();
    CacheBudget budget;
    budget.host_bytes = 40'000;
    REQUIRE(filling.prepare(budget, {}).samples < 200);
    PipelineReplayer replayer = job.make_replayer();
    std::set<std::uint64_t> before;
    const auto reads_new_samples = [&] {
      const std::vector<std::uint64_t> now = source->take_read();
      CHECK_FALSE(now.empty());
      CHECK_FALSE(overlap(before, now));
      before.insert(now.begin(), now.end());
    };
    reads_new_samples();
    replayer.prepare(budget, {});
    reads_new_samples();
    for (int round = 0; round < 3; ++round) {
      replayer.run(kLive, {});
      reads_new_samples();
      if (round > 0) continue;
      REQUIRE(replayer.refill(16, {}).has_value());
      reads_new_samples();
    }
    CHECK(before.size() < 1200);
  }
}

TEST_CASE("the resident share is that of the samples of the block, before it reads them") {
  const auto source = std::make_shared<FileSource>(64, 5000);
  const Job job = open_files(source);
  PipelineReplayer replayer = job.make_replayer();
  if (!evicted(*source)) return test::skip(test::kPageEviction);
  CHECK(replayer.run(kLive, {}).resident_share == 0.0);
  for (std::uint64_t i = 0; i < 64; ++i) CHECK(test::read_file(source->path(i)).size() == 5000);
  PipelineReplayer later = job.make_replayer();
  CHECK(later.run(kLive, {}).resident_share == 1.0);
}

TEST_CASE("cold blocks evict what they read") {
  const auto source = std::make_shared<FileSource>(64, 5000);
  const Job job = open_files(source, IoMode::cold);
  PipelineReplayer replayer = job.make_replayer();
  replayer.prepare({}, {});
  if (!evicted(*source)) return test::skip(test::kPageEviction);
  for (std::uint64_t i = 0; i < 64; ++i) CHECK(test::read_file(source->path(i)).size() == 5000);
  CHECK(replayer.run(kLive, {}).resident_share == 0.0);
  CHECK(replayer.run(kLive, {}).resident_share == 0.0);  // the second epoch
}

TEST_CASE("cold reading of a source that names no files is refused") {
  PipelineBuilder builder;
  builder.source("memory", test::toy_source({}));
  const Pipeline pipeline = builder.collate().copy().batch_size(4).build();
  const auto open = [&](IoMode io) {
    PipelineReplayer(pipeline, make_cpu_device(), std::make_shared<test::RecordingStep>(),
                     {.io = io, .workers = 0});
  };
  const std::string message = test::error_message([&] { open(IoMode::cold); }, ErrorKind::usage);
  CHECK(test::has(message, "the source 'memory' does not say which files it reads"));
  CHECK_NOTHROW(open(IoMode::as_is));
}

TEST_CASE("a file that vanishes is a skipped sample, in whatever way live blocks read") {
  for (const IoMode io : {IoMode::as_is, IoMode::warm, IoMode::cold}) {
    for (const bool throws : {false, true}) {
      CAPTURE(static_cast<int>(io));
      CAPTURE(throws);
      const auto source = std::make_shared<FileSource>(64, 100, throws);
      const Job job = open_files(source, io);
      PipelineReplayer replayer = job.make_replayer();
      CHECK(replayer.prepare({}, {}).data_set_bytes == 64 * 100);
      std::filesystem::remove(source->path(7));
      std::uint64_t skipped = 0;
      for (int block = 0; block < 16 && skipped == 0; ++block) {
        skipped = replayer.run({{ArmKind::replay, 0, 0, {}}, 8, 1, 0}, {}).skipped;
        CHECK(skipped <= 4);
      }
      CHECK(skipped > 0);
    }
  }
}
