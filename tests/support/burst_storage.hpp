// A training loop in virtual time that reads from storage with burst credits: live is fast while
// they last, and they are full again as soon as another arm has run.
#pragma once

#include <algorithm>
#include <cmath>

#include "cachebisect/base/random.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::test {

struct BurstStorageChain {
  double step_seconds = 8e-3;        ///< of the device, per batch
  double read_seconds = 2e-3;        ///< per batch, with credits
  double slow_read_seconds = 80e-3;  ///< per batch, without
  double credit_seconds = 1;         ///< of live loop time that the credits last
  double noise = 0.01;               ///< standard deviation of the log of a step's time
};

/// Stages "read" and "copy", one worker: a step takes as long as the slower of read and device.
class BurstStorage final : public Replayer {
 public:
  explicit BurstStorage(const BurstStorageChain& chain) : chain_(chain) {}
  ~BurstStorage() override = default;
  BurstStorage(const BurstStorage&) = delete;
  BurstStorage& operator=(const BurstStorage&) = delete;

  [[nodiscard]] ChainDescription describe() const override {
    ChainDescription out;
    out.stages.push_back({.name = "read",
                          .type = "read.burst",
                          .category = Category::read,
                          .kind = StageKind::source,
                          .held = Held::host});
    out.stages.push_back({.name = "copy",
                          .type = "copy.device",
                          .category = Category::copy,
                          .kind = StageKind::copy,
                          .held = Held::device});
    out.batch_size = kBatch;
    out.workers = 1;
    out.ring_slots = 4;
    out.device_kind = DeviceKind::emulated;
    return out;
  }
  [[nodiscard]] bool supports(const Arm& arm) const override {
    return arm.kind == ArmKind::replay || arm.kind == ArmKind::null;
  }
  CacheFacts prepare(const CacheBudget& /*budget*/, const std::stop_token& /*stop*/) override {
    return {.samples = 64};
  }
  void begin_round() override {}
  [[nodiscard]] double clock() const override { return clock_; }
  [[nodiscard]] MachineReading read_machine() const override { return {.seconds = clock_}; }

  BlockResult run(const BlockRequest& request, const std::stop_token& /*stop*/) override {
    const bool live = request.arm.boundary == 0;
    if (!live) used_seconds_ = 0;
    for (int step = 0; step < request.warmup_steps; ++step) run_step(live);
    BlockResult block;
    block.warmup_steps = request.warmup_steps;
    block.start_seconds = clock_;
    const int group = std::max(1, request.steps / request.groups);
    double read = 0;
    double group_start = 0;
    while (block.steps < request.steps) {
      read += live ? read_seconds() : 0;
      block.seconds += run_step(live);
      if (++block.steps % group != 0) continue;
      if (request.groups > 1) {
        block.group_taus.push_back((block.seconds - group_start) / (group * kBatch));
        group_start = block.seconds;
      }
      if (request.max_seconds > 0 && block.seconds > request.max_seconds) break;
    }
    block.samples = static_cast<std::uint64_t>(block.steps) * kBatch;
    block.stages.resize(2);
    if (live) {
      block.stages[0].samples = block.samples;
      block.stages[0].busy_seconds = read;
    }
    return block;
  }

 private:
  static constexpr int kBatch = 8;

  [[nodiscard]] double read_seconds() const {
    return used_seconds_ < chain_.credit_seconds ? chain_.read_seconds : chain_.slow_read_seconds;
  }
  double run_step(bool live) {
    const double quiet = live ? std::max(read_seconds(), chain_.step_seconds) : chain_.step_seconds;
    const double seconds = quiet * std::exp(chain_.noise * random_.normal());
    if (live) used_seconds_ += seconds;
    clock_ += seconds;
    return seconds;
  }

  BurstStorageChain chain_;
  RandomStream random_{{.seed = 7}};
  double clock_ = 0;
  double used_seconds_ = 0;  ///< of live loop time since another arm ran
};

}  // namespace cachebisect::test
