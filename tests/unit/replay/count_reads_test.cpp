// What a C++ pipeline asks of storage is counted while it makes samples.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/file_source.hpp"
#include "support/recording_step.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/replay/reading/process_reads.hpp"

using namespace cachebisect;

namespace {

constexpr std::size_t kSampleBytes = 5000;
constexpr StorageSpec kStorage{.latency_ms = 1,
                               .latency_p99_ms = 1,
                               .bandwidth_mb_per_s = 0,
                               .requests_per_second = 0,
                               .burst = 1};

/// Holds its samples in memory; says that it reads runs of them, or not.
class HeldSource final : public SourceStage {
 public:
  explicit HeldSource(std::uint64_t run) : run_(run) {}
  [[nodiscard]] std::uint64_t size() const override { return 200; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {3}}}; }
  void read(Sample& out, const SampleContext& /*context*/) const override {
    out.field("image").assign("abc");
  }
  [[nodiscard]] ReadRuns read_runs() const override { return {.samples = run_}; }

 private:
  std::uint64_t run_;
};

/// Reads a file for each sample, and sleeps a millisecond.
class SlowFiles final : public SourceStage {
 public:
  [[nodiscard]] std::uint64_t size() const override { return files_.size(); }
  [[nodiscard]] SampleSpec infer() override { return files_.infer(); }
  void read(Sample& out, const SampleContext& context) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    files_.read(out, context);
  }
  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    return files_.files(index);
  }

 private:
  test::FileSource files_{200, kSampleBytes};
};

/// Makes two requests of 10 ms for each sample, or says that a cache has it.
class CountedSource final : public SourceStage, public RemoteSource {
 public:
  explicit CountedSource(bool cached) : cached_(cached) {}
  [[nodiscard]] std::uint64_t size() const override { return 200; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {3}}}; }
  void read(Sample& out, const SampleContext& /*context*/) const override {
    out.field("image").assign("abc");
    ++samples_;
  }
  /// Runs of them, which only a source that counts by itself may have here.
  [[nodiscard]] ReadRuns read_runs() const override { return {.samples = 4}; }
  [[nodiscard]] std::string objects() const override { return ""; }
  [[nodiscard]] std::optional<RequestCounts> request_counts() const override {
    const std::uint64_t asked = cached_ ? 0 : 2 * samples_;
    return RequestCounts{.samples = samples_,
                         .requests = asked,
                         .received_bytes = static_cast<double>(100 * asked),
                         .request_seconds = 0.01 * static_cast<double>(asked),
                         .waiting_seconds = 0.01 * static_cast<double>(samples_),
                         .most_in_flight = 2};
  }

 private:
  bool cached_;
  mutable std::atomic<std::uint64_t> samples_{0};
};

Pipeline over_server(bool cached) {
  return PipelineBuilder{}
      .source("read", {"custom.counted", {}, std::make_shared<CountedSource>(cached)})
      .collate()
      .copy()
      .batch_size(8)
      .workers(2)
      .build();
}

Pipeline over_memory(std::uint64_t run) {
  return PipelineBuilder{}
      .source("read", {"custom.held", {}, std::make_shared<HeldSource>(run)})
      .collate()
      .copy()
      .batch_size(8)
      .workers(1)
      .build();
}

PipelineBuilder over_files(int workers) {
  PipelineBuilder chain;
  chain.source("read", {"custom.files", {}, std::make_shared<test::FileSource>(200, kSampleBytes)})
      .collate()
      .copy()
      .batch_size(8)
      .workers(workers);
  return chain;
}

PipelineReplayer replayer_of(Pipeline pipeline) {
  return {std::move(pipeline), make_cpu_device(), std::make_shared<test::RecordingStep>()};
}

}  // namespace

TEST_CASE("emulated storage counts its requests, one at a time in each worker") {
  for (const int workers : {0, 2}) {
    CAPTURE(workers);
    PipelineReplayer replayer = replayer_of(over_files(workers).emulate_storage(kStorage).build());
    CHECK(replayer.describe().counts_storage);
    const auto counts = replayer.count_storage({.samples = 20, .max_seconds = 60}, {});
    REQUIRE(counts);
    CHECK(counts->samples >= 20);
    CHECK(counts->samples <= 24);
    CHECK(counts->workers == (workers == 0 ? 1 : 2));
    CHECK(counts->requests == counts->samples);
    CHECK(counts->received_bytes == static_cast<double>(counts->samples * kSampleBytes));
    CHECK(counts->most_in_flight == 1);
    CHECK(counts->request_seconds >= 1e-3 * static_cast<double>(counts->samples));
    CHECK(counts->waiting_seconds == counts->request_seconds);
    CHECK(counts->seconds >= counts->waiting_seconds);
    CHECK_FALSE(counts->file_opens);
    CHECK(counts->file_reads == 0);
  }
}

TEST_CASE("of real files the kernel counts the reads") {
  if (!ReadCounter().count().disk_bytes) {
    MESSAGE("the system does not say what a process reads; not tested here");
    return;
  }
  PipelineReplayer replayer = replayer_of(over_files(2).build());
  const auto counts = replayer.count_storage({.samples = 24, .max_seconds = 60}, {});
  REQUIRE(counts);
  CHECK(counts->samples >= 24);
  CHECK(counts->file_opens == counts->samples);
  CHECK(counts->file_reads >= counts->samples);
  CHECK(counts->file_bytes >= static_cast<double>(counts->samples * kSampleBytes));
  CHECK(counts->file_bytes < 2 * static_cast<double>(counts->samples * kSampleBytes));
  CHECK(counts->requests == 0);
  CHECK(counts->received_bytes == 0);
}

TEST_CASE("of real files a worker waits whenever it does not compute in the source") {
  if (!ReadCounter().count().disk_bytes) return;
  PipelineReplayer replayer =
      replayer_of(PipelineBuilder{}
                      .source("read", {"custom.slow", {}, std::make_shared<SlowFiles>()})
                      .collate()
                      .copy()
                      .batch_size(8)
                      .workers(2)
                      .build());
  const auto counts = replayer.count_storage({.samples = 24, .max_seconds = 60}, {});
  REQUIRE(counts);
  CHECK(counts->waiting_seconds >= 0.9e-3 * static_cast<double>(counts->samples));
}

TEST_CASE("counting ends with the time, and with a stop") {
  PipelineReplayer replayer = replayer_of(over_files(2).emulate_storage(kStorage).build());
  const auto counts = replayer.count_storage({.samples = 160, .max_seconds = 0}, {});
  REQUIRE(counts);
  CHECK(counts->samples < 160);
  CHECK(counts->requests == counts->samples);
  std::stop_source stop;
  stop.request_stop();
  CHECK(test::error_message(
            [&] {
              (void)replayer.count_storage({.samples = 16, .max_seconds = 60}, stop.get_token());
            },
            ErrorKind::interrupted) == "stopped");
  // The replayer goes on as before.
  CHECK(
      replayer.run({.arm = {ArmKind::live, 0, 0, {}}, .steps = 2, .warmup_steps = 1, .seed = 0}, {})
          .samples == 16);
}

TEST_CASE("nothing is told of samples in memory, nor of runs, which most samples share") {
  PipelineReplayer held = replayer_of(over_memory(1));
  CHECK(held.describe().counts_storage);
  CHECK_FALSE(held.count_storage({.samples = 24, .max_seconds = 60}, {}));
  PipelineReplayer runs = replayer_of(over_memory(4));
  CHECK_FALSE(runs.describe().counts_storage);
  CHECK_FALSE(runs.count_storage({.samples = 24, .max_seconds = 60}, {}));
}

TEST_CASE("a source over servers counts its requests; of what a cache has nothing is told") {
  PipelineReplayer replayer = replayer_of(over_server(false));
  CHECK(replayer.describe().counts_storage);
  for (int i = 0; i < 2; ++i) {  // Since the time before, each time.
    const auto counts = replayer.count_storage({.samples = 24, .max_seconds = 60}, {});
    REQUIRE(counts);
    CHECK(counts->samples >= 24);
    CHECK(counts->samples <= 60);
    CHECK(counts->workers == 2);
    CHECK(counts->requests == 2 * counts->samples);
    CHECK(counts->received_bytes == static_cast<double>(200 * counts->samples));
    CHECK(counts->most_in_flight == 2);
    CHECK(counts->file_reads == 0);
  }
  PipelineReplayer cached = replayer_of(over_server(true));
  CHECK_FALSE(cached.count_storage({.samples = 24, .max_seconds = 60}, {}));
}

TEST_CASE("a moment in which nothing is read counts nothing") {
  const ReadCounter nothing;
  const ProcessReads reads = nothing.count();
  CHECK(reads.reads == 0);
  CHECK(reads.bytes == 0);
}
