// How the training thread waits for a CUDA device: as PyTorch does, or asleep.
#include <memory>
#include <string>

#include "cuda_stub/machine.hpp"
#include "support/all_stages.hpp"
#include "support/cuda_job.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using cuda_stub::Machine;

namespace {

constexpr int kWaitedSteps = 11;

struct LoopOptions {
  bool pinned = true;
  bool non_blocking = true;
  bool synchronised = false;
  bool spin = true;
};

/// Waits of a live block, on a device that does nothing before somebody waits.
struct Waits {
  int spins = 0;
  int sleeps = 0;
  std::size_t queued_before_step = 0;  ///< kernels and copies, when the first step was queued
};

Pipeline make_pipeline(const LoopOptions& options) {
  const auto text = [](bool value) { return value ? std::string("true") : std::string("false"); };
  return Pipeline::from_json(
      R"({"batch_size": 4, "workers": 0,
    "stages": [{"use": "synthetic.read", "bytes": 64, "samples": 400}, {"use": "collate.stack"},
               {"use": "copy.device", "pinned": )" +
          text(options.pinned) + R"(, "non_blocking": )" + text(options.non_blocking) +
          R"(, "prefetch": 0}],
    "train": {"kind": "callback", "sync_every": )" +
          (options.synchronised ? "1" : "0") + R"(, "spin": )" + text(options.spin) + "}}",
      test::all_stages());
}

Waits waits_of(const LoopOptions& options) {
  Machine machine;
  const auto step = std::make_shared<test::KernelStep>();
  PipelineReplayer replayer(make_pipeline(options), make_cuda_device(0), step);
  replayer.prepare({}, {});
  Waits waits{-machine.spins(), -machine.sleeps()};
  step->before = [&](std::uint64_t index) {
    if (index == 0) waits.queued_before_step = machine.queued();
  };
  (void)replayer.run({{ArmKind::live, 0, 0, {}}, kWaitedSteps - 2, 2, 0}, {});
  CHECK(step->seen.size() == kWaitedSteps);
  waits.spins += machine.spins();
  waits.sleeps += machine.sleeps();
  return waits;
}

}  // namespace

TEST_CASE("a loop that never waits for its loss or for copies does not spin") {
  CHECK(waits_of({}).spins == 0);
  CHECK(waits_of({.pinned = false}).spins == 0);
}

TEST_CASE(
    "waits for the loss and for blocking copies spin, unless train.spin says that they sleep") {
  for (const LoopOptions& options :
       {LoopOptions{.synchronised = true}, LoopOptions{.non_blocking = false},
        LoopOptions{.pinned = false, .non_blocking = false}}) {
    CAPTURE(options.synchronised);
    CAPTURE(options.pinned);
    CHECK(waits_of(options).spins == kWaitedSteps);
    LoopOptions asleep = options;
    asleep.spin = false;
    const Waits waits = waits_of(asleep);
    CHECK(waits.spins == 0);
    CHECK(waits.sleeps >= kWaitedSteps);
  }
}

TEST_CASE("a non-blocking copy is not waited for, from pageable memory either") {
  CHECK(waits_of({.pinned = true}).queued_before_step > 0);
  CHECK(waits_of({.pinned = false}).queued_before_step > 0);
  CHECK(waits_of({.non_blocking = false}).queued_before_step == 0);
  CHECK(waits_of({.pinned = false, .non_blocking = false}).queued_before_step == 0);
}
