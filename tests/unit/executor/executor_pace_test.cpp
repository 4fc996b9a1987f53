// Planted costs keep their mean when the wait per sample is too short for a sleep.
#include <stop_token>

#include "support/all_stages.hpp"
#include "support/passed_time.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/pace.hpp"
#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;

namespace {

/// True if 4 batches of 32 samples that wait for 20 us each take at least so many seconds to load.
bool takes(double seconds, int workers) {
  const Pipeline pipeline = Pipeline::from_json(R"({
    "batch_size": 32,
    "stages": [{"use": "synthetic.read", "bytes": 16, "samples": 1000},
               {"use": "synthetic.wait", "us": 20},
               {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "callback"}})",
                                                test::all_stages());
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = workers, .prefetch = 0});
  const test::Beginning begin;
  executor.start({});
  for (int i = 0; i < 4; ++i) executor.release(executor.next({}), nullptr);
  const bool took = begin.is_past(seconds);
  executor.halt();
  return took;
}

}  // namespace

TEST_CASE("short waits are not lost inline or in a worker") {
  constexpr double kOwed = 4 * 32 * 20e-6;
  CHECK(takes(kOwed - PaceTimeline::kWorthSleeping, 0));
  CHECK(takes(kOwed - PaceTimeline::kWorthSleeping, 1));
}
