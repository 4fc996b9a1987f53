#include "cachebisect/bisect/phases/block_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {
namespace {

/// Timers and wake-ups are small next to it, and drift within a round is small too.
constexpr double kBlockSeconds = 0.040;
/// Untimed steps last at least this long: caches and clocks are those of the arm before.
constexpr double kSettleSeconds = 0.008;
/// Timed periods of a CPU quota that runs out: two whole ones, if steps take a little less.
constexpr double kQuotaPeriods = 2.2;
/// Only the device's buffers have to fill.
constexpr int kWarmupOfDevice = 4;
constexpr int kMaxSteps = 100000;
/// Many workers would make blocks of slow steps too long.
constexpr int kMaxStretch = 4;

int rounded_up(int number, int unit) { return (number + unit - 1) / unit * unit; }

}  // namespace

BlockLengthOptions block_length_options(const ChainDescription& chain) {
  BlockLengthOptions options{.workers = chain.workers,
                             .period = chain.batches_per_step,
                             .sync_every = chain.sync_every,
                             .loader = chain.loader,
                             .keeps_queues = chain.keeps_queues};
  for (std::size_t stage = 1; stage <= chain.stages.size(); ++stage) {
    if (works_on_batches(chain.stages[stage - 1].kind)) {
      options.ready_from = static_cast<int>(stage);
    }
  }
  return options;
}

int BlockLengths::usual_steps(double step_seconds) const {
  if (step_seconds <= 0) return kMinSteps;
  const double seconds = std::max(kBlockSeconds, kQuotaPeriods * quota_period_);
  return static_cast<int>(
      std::clamp<double>(std::ceil(seconds / step_seconds), kMinSteps, kMaxSteps));
}

int BlockLengths::steps_for(double step_seconds, int boundary) const {
  const int steps = usual_steps(step_seconds);
  if (own_batches() && is_ready(boundary)) return whole_waits(steps, options_.period);
  if (options_.keeps_queues && even_batches_ && !own_batches())
    return whole_waits(steps, options_.period);
  const bool stretch = own_batches() || whole_groups(steps) <= kMaxStretch * steps;
  return whole_waits(steps, stretch ? group() : options_.period);
}

int BlockLengths::group() const noexcept {
  return std::lcm(std::max(1, options_.workers), options_.period);
}

int BlockLengths::whole_groups(int steps) const noexcept { return rounded_up(steps, group()); }

int BlockLengths::whole_waits(int steps, int unit) const noexcept {
  const int whole = rounded_up(steps, std::lcm(unit, std::max(1, options_.sync_every)));
  return whole <= kMaxStretch * steps ? whole : rounded_up(steps, unit);
}

int BlockLengths::whole_periods(int steps) const noexcept {
  return rounded_up(steps, options_.period);
}

int BlockLengths::whole_warmup(int steps) const noexcept {
  return own_batches() ? whole_groups(steps) : whole_periods(steps);
}

int BlockLengths::warmup(int boundary) const noexcept {
  if (options_.keeps_queues) return whole_periods(kMinWarmup);
  return whole_periods(is_ready(boundary) ? std::min(warmup_, kWarmupOfDevice) : warmup_);
}

int BlockLengths::warmup(int boundary, double step_seconds) const {
  const int usual = warmup(boundary);
  if (step_seconds <= 0) return usual;
  const double seconds = std::max(kSettleSeconds, quota_period_);
  const double settling = std::min<double>(std::ceil(seconds / step_seconds), kMaxSteps);
  const int whole = static_cast<int>(settling);
  const int steps =
      std::max(usual, options_.keeps_queues ? whole_periods(whole) : whole_warmup(whole));
  if (!options_.keeps_queues || options_.period > 1 || is_ready(boundary)) return steps;
  return steps + steps_to_wander(steps + steps_for(step_seconds, boundary));
}

/// The fewest more with which a block's steps share no factor with two or the workers.
int BlockLengths::steps_to_wander(int steps) const noexcept {
  int more = 0;
  while (std::gcd(steps + more, 2 * std::max(1, options_.workers)) != 1) ++more;
  return more;
}

WarmupRange BlockLengths::warmup_range(int boundary, double step_seconds) const {
  const int usual = warmup(boundary, step_seconds);
  if (options_.workers < 2 || options_.period > 1 || options_.keeps_queues) return {usual, 1};
  if (own_batches()) return {usual, is_ready(boundary) ? 1 : options_.workers};
  const int min = std::max(kMinWarmup, usual - options_.workers);
  return {min, std::max(2, 2 * (usual - min))};
}

PlannedBlock BlockLengths::block(const Arm& arm, double step_seconds) const {
  const int boundary = arm.shared_boundary();
  return {arm, steps_for(step_seconds, boundary), warmup_range(boundary, step_seconds)};
}

double BlockLengths::block_seconds(const Arm& arm, double step_seconds) const {
  const int boundary = arm.shared_boundary();
  return (warmup(boundary, step_seconds) + steps_for(step_seconds, boundary)) * step_seconds;
}

}  // namespace cachebisect
