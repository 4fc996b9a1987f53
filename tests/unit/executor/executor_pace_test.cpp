// Planted costs keep their mean when the wait per sample is too short for a sleep.
#include <stop_token>

#include "support/all_stages.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/pace.hpp"
#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;

namespace {

/// Seconds to load 4 batches of 32 samples that wait for 20 us each.
double seconds_to_load(int workers) {
  const Pipeline pipeline = Pipeline::from_json(R"({
    "batch_size": 32,
    "stages": [{"use": "synthetic.read", "bytes": 16, "samples": 1000},
               {"use": "synthetic.wait", "us": 20},
               {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "callback"}})",
                                                test::all_stages());
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = workers, .prefetch = 0});
  const double begin = monotonic_seconds();
  executor.start({});
  for (int i = 0; i < 4; ++i) executor.release(executor.next({}), nullptr);
  const double seconds = monotonic_seconds() - begin;
  executor.halt();
  return seconds;
}

}  // namespace

TEST_CASE("short waits are not lost inline or in a worker") {
  constexpr double kOwed = 4 * 32 * 20e-6;
  CHECK(seconds_to_load(0) >= kOwed - PaceTimeline::kWorthSleeping);
  CHECK(seconds_to_load(1) >= kOwed - PaceTimeline::kWorthSleeping);
}
