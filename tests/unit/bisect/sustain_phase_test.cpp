#include "cachebisect/bisect/phases/sustain_phase.hpp"

#include <optional>
#include <vector>

#include "support/forwarding_replayer.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using cachebisect::test::ForwardingReplayer;

namespace {

constexpr int kCeiling = 4;  // read, decode, collate, copy

/// Keeps what it was asked to run.
class Recorder final : public ForwardingReplayer {
 public:
  using ForwardingReplayer::ForwardingReplayer;
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    requests.push_back(request);
    return ForwardingReplayer::run(request, stop);
  }

  std::vector<BlockRequest> requests;
};

/// The blocks of live and of the ceiling for steps of 50 ms.
std::vector<BlockRequest> sustained_blocks(int workers, LoaderKind loader,
                                           DeviceKind device = DeviceKind::cpu,
                                           bool clock_falls = false) {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .seconds = 1e-4}, {.name = "decode", .seconds = 1e-3}};
  chain.workers = workers;
  chain.loader = loader;
  Recorder replayer(chain);
  Measurements measured;
  measured.chain = replayer.describe();
  measured.chain.device_kind = device;
  measured.chain.device_clock_falls = clock_falls;
  REQUIRE(measured.stages() == kCeiling);
  static_cast<void>(replayer.prepare({}, {}));
  RoundPlan plan({.stages = kCeiling,
                  .blocks = {.workers = workers, .loader = loader, .ready_from = kCeiling}});
  plan.set_pilot(0, 0.05);
  plan.set_pilot(kCeiling, 0.05);
  plan.lengths().set_warmup(workers);
  std::vector<BlockRecord> records;
  const BisectOptions options;
  BlockRunner blocks(replayer, options, records);
  run_sustained(blocks, plan, 3, measured);
  return replayer.requests;
}

}  // namespace

TEST_CASE("with a batch per worker a sustained run may end whenever all have finished a batch") {
  for (const int workers : {2, 3, 8, 64}) {
    CAPTURE(workers);
    const auto requests = sustained_blocks(workers, LoaderKind::batch);
    REQUIRE(requests.size() == 2);
    const BlockRequest& live = requests.front();
    CHECK(live.max_seconds == 6);
    CHECK(live.steps % live.groups == 0);
    CHECK(live.steps / live.groups % workers == 0);
    CHECK(live.warmup_steps % workers == 0);
    CHECK(live.steps >= 60);  // 3 s
    CHECK(live.steps < 64 + workers);
    // No worker runs at the ceiling.
    CHECK(requests.back().steps == requests.back().groups);
  }
}

TEST_CASE("workers that share a batch do not lengthen the groups of a sustained run") {
  const auto requests = sustained_blocks(64, LoaderKind::sample);
  REQUIRE(requests.size() == 2);
  CHECK(requests.front().steps == 2 * requests.front().groups);  // 3 s of 50 ms in 32 groups
}

TEST_CASE("the ceiling of an emulated device is watched only if its clock may fall") {
  const auto blocks = sustained_blocks(2, LoaderKind::sample, DeviceKind::emulated);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].arm.is_live());
  CHECK(sustained_blocks(2, LoaderKind::sample, DeviceKind::emulated, true).size() == 2);
}

TEST_CASE("a drop is watched briefly where live finds its ring empty") {
  const auto seconds = [](std::optional<double> ready, VerdictKind kind, DeviceKind device,
                          double starved = 0) {
    Measurements measured;
    measured.chain.device_kind = device;
    measured.verdict.seconds = 2;
    BlockRecord live;
    live.result.steps = 10;
    live.result.samples = 640;
    live.result.seconds = 0.3;
    live.result.ready_batches = ready;
    live.result.starved_seconds = starved;
    measured.blocks.assign(3, live);
    return sustain_seconds({}, kind, measured);
  };
  constexpr auto kDrop = VerdictKind::drop;
  CHECK(seconds(0.02, kDrop, DeviceKind::emulated) == 0.5);
  // Its clock may fall, which shows within a second.
  CHECK(seconds(0.02, kDrop, DeviceKind::cuda) == 1);
  CHECK(seconds(0.02, VerdictKind::spread, DeviceKind::cpu) == 1);
  // Two workers that finish together: one batch is always ready, and the step waits all the same.
  CHECK(seconds(0.5, kDrop, DeviceKind::emulated, 0.1) == 0.5);
  // A longer run may fill the ring, or nothing is known of it.
  CHECK(seconds(0.5, kDrop, DeviceKind::emulated) == 3);
  CHECK(seconds(std::nullopt, kDrop, DeviceKind::emulated) == 3);
  CHECK(seconds(0.02, VerdictKind::flat, DeviceKind::emulated) == 8);
  CHECK(sustain_seconds({.sustain_seconds = 7}, kDrop, {}) == 7);
  CHECK(sustain_seconds({}, kDrop, {}) == 3);
}
