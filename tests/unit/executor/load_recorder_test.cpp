// What workers did, as their records show it.
#include "cachebisect/executor/load_recorder.hpp"

#include <map>

#include "support/allocation_counter.hpp"
#include "support/toy_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;
using test::allocations;

namespace {

constexpr int kRecordedBatch = 16;

Pipeline recorded_chain() {
  return PipelineBuilder{}
      .source("read", test::toy_source({.samples = 500}))
      .stage("noise", test::toy_noise(true))
      .collate("NCHW")
      .stage("count", test::toy_count_up())
      .copy()
      .batch_size(kRecordedBatch)
      .build();
}

void take_batches(Executor& executor, int batches) {
  for (int i = 0; i < batches; ++i) executor.release(executor.next({}), nullptr);
}

/// Spans by what they are; stages by number.
std::map<int, std::size_t> counts(const LoadRecorder& recorder) {
  std::map<int, std::size_t> all;
  for (std::size_t i = 0; i < recorder.size(); ++i) {
    for (const LoadSpan& span : recorder.worker(i).spans().records()) {
      const bool stage = span.work == LoadWork::stage;
      ++all[stage ? static_cast<int>(span.stage) : -static_cast<int>(span.work)];
    }
  }
  return all;
}

}  // namespace

TEST_CASE("every execution of a stage is recorded, and those of a worker do not overlap") {
  const auto device = make_cpu_device();
  const Pipeline pipeline = recorded_chain();
  for (const int workers : {0, 1, 3}) {
    CAPTURE(workers);
    LoadRecorder recorder(workers, 10'000);
    Executor executor(pipeline, *device, {.workers = workers});
    constexpr std::size_t kBatches = 6;
    LoadRequest request;
    request.batches = kBatches;
    request.recorder = &recorder;
    recorder.set_on(true);
    executor.start(request);
    take_batches(executor, kBatches);
    executor.halt();
    auto found = counts(recorder);
    CHECK(found[0] == kBatches * kRecordedBatch);  // read
    CHECK(found[1] == kBatches * kRecordedBatch);  // noise
    CHECK(found[2] == kBatches);                   // collate
    CHECK(found[3] == kBatches);                   // count
    CHECK(found[-static_cast<int>(LoadWork::slot_write)] == kBatches * kRecordedBatch);
    CHECK(found[-static_cast<int>(LoadWork::publish)] == kBatches);
    for (std::size_t i = 0; i < recorder.size(); ++i) {
      const auto spans = recorder.worker(i).spans().records();
      for (std::size_t k = 1; k < spans.size(); ++k) CHECK(spans[k].begin >= spans[k - 1].end);
    }
  }
}

TEST_CASE("nothing is recorded while the recorder is off, and what does not fit is counted") {
  const auto device = make_cpu_device();
  const Pipeline pipeline = recorded_chain();
  LoadRecorder recorder(1, 5);
  Executor executor(pipeline, *device, {.workers = 1});
  LoadRequest request;
  request.recorder = &recorder;
  executor.start(request);
  take_batches(executor, 2);
  executor.halt();
  CHECK(recorder.worker(0).spans().records().empty());
  recorder.set_on(true);
  executor.start(request);
  take_batches(executor, 2);
  executor.halt();
  CHECK(recorder.worker(0).spans().records().size() == 5);
  CHECK(recorder.dropped() > 2 * 3 * kRecordedBatch - 5);
  recorder.clear();
  CHECK(recorder.dropped() == 0);
}

TEST_CASE("recording allocates nothing") {
  const auto device = make_cpu_device();
  const Pipeline pipeline = recorded_chain();
  LoadRecorder recorder(1, 1000);
  Executor executor(pipeline, *device, {.workers = 1});
  LoadRequest request;
  request.recorder = &recorder;
  recorder.set_on(true);
  executor.start(request);
  take_batches(executor, 100);
  const std::uint64_t before = allocations;
  take_batches(executor, 100);
  CHECK(allocations == before);
  executor.halt();
}
