#include "cachebisect/base/denormals.hpp"

#include <limits>
#include <thread>

#include "support/recording_step.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/executor.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;

namespace {

/// Half of the smallest normal number: a denormal, or zero if denormals are flushed.
float half_of_smallest() {
  volatile float least = std::numeric_limits<float>::min();
  return least * 0.5F;
}

Pipeline chain(int workers) {
  return PipelineBuilder{}
      .source("read", 64,
              [](SampleIndex, Sample& out) { out.field("x").set<float>(half_of_smallest()); })
      .collate()
      .copy()
      .batch_size(4)
      .workers(workers)
      .device("cpu")
      .build();
}

}  // namespace

#if defined(__SSE2__) || defined(__aarch64__)

TEST_CASE("denormals are zero only within the scope and in threads started there") {
  REQUIRE(half_of_smallest() > 0);
  {
    const FlushDenormals outer;
    CHECK(half_of_smallest() == 0);
    { const FlushDenormals inner; }
    CHECK(half_of_smallest() == 0);
    float in_thread = 1;
    std::thread([&] { in_thread = half_of_smallest(); }).join();
    CHECK(in_thread == 0);
  }
  CHECK(half_of_smallest() > 0);
}

TEST_CASE("stages and step run without denormals, and the caller keeps its own mode") {
  for (const int workers : {0, 2}) {
    CAPTURE(workers);
    const auto step = std::make_shared<test::RecordingStep>();
    float in_step = 1;
    step->then = [&](const DeviceBatch&) { in_step = half_of_smallest(); };
    PipelineReplayer replayer(chain(workers), make_cpu_device(), step, {.workers = workers});
    replayer.prepare({}, {});
    replayer.run({{ArmKind::live}, 2, 1, 0}, {});
    CHECK(in_step == 0);
    for (const test::SeenBatch& batch : step->seen) {
      CHECK(batch.bytes.at(0) == std::string(4 * sizeof(float), '\0'));
    }
    CHECK(half_of_smallest() > 0);
  }
}

#endif
