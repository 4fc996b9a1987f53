// A replayer in virtual time whose arms cost what a formula gives, plus noise: the truth of every
// arm is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::test {

struct LawChain {
  std::vector<double> stage_seconds{};  ///< worker seconds per sample; host stages in order
  double step_seconds = 1e-4;           ///< per sample
  int workers = 1;
  bool side_by_side = false;  ///< each stage has workers of its own, and nothing is counted
  double slowed = 0;          ///< share by which loading slows the step
  double probe_share = 0;     ///< share of the time that the inline probes cost
  double small_cache = 0;     ///< share by which replay from few samples is faster
  double noise = 0.01;        ///< standard deviation of the log of a block's time
  double fill_seconds = 0.2;
  /// Multiplies step_seconds, by the time of the clock; empty: 1.
  std::function<double(double seconds)> step_factor{};
  /// Multiplies the seconds of the first stage that a block counts; empty: 1.
  std::function<double(int block)> counted_factor{};
};

/// Stages "a", "b", ... then "copy", which costs nothing.
class LawReplayer final : public Replayer {
 public:
  explicit LawReplayer(LawChain chain, std::uint64_t seed = 7)
      : chain_(std::move(chain)), random_({.seed = seed}) {}
  ~LawReplayer() override = default;
  LawReplayer(const LawReplayer&) = delete;
  LawReplayer& operator=(const LawReplayer&) = delete;

  [[nodiscard]] int host_stages() const { return static_cast<int>(chain_.stage_seconds.size()); }

  [[nodiscard]] ChainDescription describe() const override {
    ChainDescription out;
    for (int s = 0; s < host_stages(); ++s) {
      const std::string name(1, static_cast<char>('a' + s));
      out.stages.push_back({.name = name,
                            .type = "augment." + name,
                            .category = Category::augment,
                            .kind = StageKind::sample,
                            .held = Held::host});
    }
    out.stages.push_back({.name = "copy",
                          .type = "copy.device",
                          .category = Category::copy,
                          .kind = StageKind::copy,
                          .held = Held::device});
    out.batch_size = kBatch;
    out.workers = chain_.workers;
    out.ring_slots = chain_.workers + 3;
    out.device_kind = DeviceKind::emulated;
    return out;
  }

  [[nodiscard]] bool supports(const Arm& arm) const override {
    return (arm.kind != ArmKind::shadow || chain_.workers > 0) && (!refuse || !refuse(arm));
  }

  CacheFacts prepare(const CacheBudget&, const std::stop_token&) override { return facts(64); }

  std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token&) override {
    ++refills;
    if (!can_refill) return std::nullopt;
    return facts(samples == 0 ? cached_ : samples);
  }

  bool freshen(std::uint64_t, const std::stop_token&) override {
    ++fresh_fills;
    clock_ += chain_.fill_seconds;
    return true;
  }

  void begin_round() override {}

  /// Seconds per sample, without noise.
  [[nodiscard]] double tau(const Arm& arm) const {
    const double step = chain_.step_seconds * (chain_.step_factor ? chain_.step_factor(clock_) : 1);
    if (arm.kind == ArmKind::shadow) return step * (1 + chain_.slowed);
    const int from = arm.kind == ArmKind::replay || arm.kind == ArmKind::null ? arm.boundary : 0;
    double load = 0;
    for (int s = from; s < host_stages(); ++s) {
      if (arm.kind == ArmKind::bypass && arm.stage == s + 1) continue;
      const double own = chain_.stage_seconds[static_cast<std::size_t>(s)];
      load = chain_.side_by_side ? std::max(load, own) : load + own;
    }
    const bool loads = load > 0;
    double seconds =
        std::max(load / std::max(1, chain_.workers), step * (1 + (loads ? chain_.slowed : 0)));
    if (chain_.workers == 0) seconds = load + step;
    if (from == 0 && arm.observed) seconds *= 1 + chain_.probe_share;
    const bool few = from > 0 && (arm.cache_samples > 0 || cached_ <= 64);
    return few ? seconds / (1 + chain_.small_cache) : seconds;
  }

  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
    if (before_block) before_block(request.arm);
    const double tau_true = tau(request.arm);
    const double noisy = tau_true * std::exp(chain_.noise * random_.normal());
    BlockResult block;
    block.start_seconds = clock_;
    block.steps = request.steps;
    block.warmup_steps = request.warmup_steps;
    block.samples = static_cast<std::uint64_t>(request.steps) * kBatch;
    block.seconds = noisy * static_cast<double>(block.samples);
    if (tau_true > 1.01 * chain_.step_seconds * (1 + chain_.slowed)) {
      block.starved_seconds = 0.9 * block.seconds;
    }
    count_stages(request.arm, block);
    clock_ += noisy * static_cast<double>(kBatch) * (request.steps + request.warmup_steps);
    ++blocks;
    return block;
  }

  [[nodiscard]] double clock() const override { return clock_; }

  std::function<bool(const Arm&)> refuse{};        ///< arms that are not supported
  std::function<void(const Arm&)> before_block{};  ///< may throw
  bool can_refill = true;
  int refills = 0;
  int fresh_fills = 0;
  int blocks = 0;

 private:
  static constexpr int kBatch = 8;

  CacheFacts facts(std::uint64_t samples) {
    cached_ = samples;
    clock_ += chain_.fill_seconds;
    CacheFacts out;
    out.samples = samples;
    out.seconds = chain_.fill_seconds;
    return out;
  }

  void count_stages(const Arm& arm, BlockResult& block) const {
    if (!arm.observed || chain_.side_by_side) return;
    block.stages.resize(chain_.stage_seconds.size() + 1);
    const int from = arm.kind == ArmKind::replay ? arm.boundary : 0;
    for (int s = from; s < host_stages(); ++s) {
      if (arm.kind == ArmKind::bypass && arm.stage == s + 1) continue;
      auto& counters = block.stages[static_cast<std::size_t>(s)];
      counters.samples = block.samples;
      const double factor = s == 0 && chain_.counted_factor ? chain_.counted_factor(blocks) : 1;
      counters.busy_seconds = factor * chain_.stage_seconds[static_cast<std::size_t>(s)] *
                              static_cast<double>(block.samples);
      counters.cpu_seconds = counters.busy_seconds;
    }
  }

  LawChain chain_;
  RandomStream random_;
  double clock_ = 0;
  std::uint64_t cached_ = 64;
};

}  // namespace cachebisect::test
