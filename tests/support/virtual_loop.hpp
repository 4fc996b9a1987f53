// A training loop in virtual time with one worker: stages "read" and "copy", and a step of which a
// test says how long it takes.
#pragma once

#include <algorithm>
#include <cmath>

#include "cachebisect/base/random.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::test {

class VirtualLoop : public Replayer {
 public:
  /// `noise`: standard deviation of the log of a step's time.
  VirtualLoop(double noise, std::uint64_t seed) : noise_(noise), random_({.seed = seed}) {}
  ~VirtualLoop() override = default;
  VirtualLoop(const VirtualLoop&) = delete;
  VirtualLoop& operator=(const VirtualLoop&) = delete;

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
    begin_block(live);
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

 protected:
  virtual void begin_block(bool /*live*/) {}
  /// What reading one batch takes now.
  [[nodiscard]] virtual double read_seconds() const = 0;
  /// What the next step takes, without noise.
  virtual double step_seconds(bool live) = 0;

 private:
  static constexpr int kBatch = 8;

  double run_step(bool live) {
    const double seconds = step_seconds(live) * std::exp(noise_ * random_.normal());
    clock_ += seconds;
    return seconds;
  }

  double noise_;
  RandomStream random_;
  double clock_ = 0;
};

}  // namespace cachebisect::test
