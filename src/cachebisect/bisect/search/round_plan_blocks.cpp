// The lengths of blocks: from the pilot, and from what steps took since.
#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/search/round_plan.hpp"

namespace cachebisect {
namespace {

constexpr double kBlockSeconds = 0.040;
constexpr int kMinSteps = 3;
constexpr int kMinWarmup = 2;
/// Only the device's buffers have to fill.
constexpr int kWarmupOfDevice = 4;
constexpr int kMaxSteps = 100000;
/// Many workers would make blocks of slow steps too long.
constexpr int kMaxStretch = 4;

}  // namespace

void RoundPlan::set_pilot(int boundary, double step_seconds) {
  step_seconds_.at(at(boundary)) = std::max(step_seconds, 1e-9);
  pilot_seconds_ += block_seconds(boundary);
}

void RoundPlan::set_prior(const std::vector<double>& seconds_per_sample) {
  prior_.clear();
  for (const double seconds : seconds_per_sample) {
    prior_.push_back(std::log(std::max(seconds, 1e-12)));
  }
}

int RoundPlan::steps(int boundary) const { return steps_for(step_seconds(boundary), boundary); }

int RoundPlan::steps_for(double step_seconds, int boundary) const {
  const int steps = step_seconds <= 0
                        ? kMinSteps
                        : static_cast<int>(std::clamp<double>(
                              std::ceil(kBlockSeconds / step_seconds), kMinSteps, kMaxSteps));
  if (own_batches() && is_ready(boundary)) return steps;
  const int whole = whole_groups(steps);
  return own_batches() || whole <= kMaxStretch * steps ? whole : steps;
}

int RoundPlan::whole_groups(int steps) const noexcept {
  const int group = std::max(1, options_.workers);
  return (steps + group - 1) / group * group;
}

int RoundPlan::whole_warmup(int steps) const noexcept {
  return own_batches() ? whole_groups(steps) : steps;
}

int RoundPlan::warmup(int boundary) const noexcept {
  return is_ready(boundary) ? std::min(warmup_, kWarmupOfDevice) : warmup_;
}

WarmupRange RoundPlan::warmup_range(int boundary) const {
  const int usual = warmup(boundary);
  if (options_.workers < 2) return {usual, 1};
  if (own_batches()) return {usual, is_ready(boundary) ? 1 : options_.workers};
  const int min = std::max(kMinWarmup, usual - options_.workers);
  return {min, std::max(2, 2 * (usual - min))};
}

PlannedBlock RoundPlan::block(const Arm& arm, double step_seconds) const {
  return {arm, steps_for(step_seconds, arm.boundary), warmup_range(arm.boundary)};
}

PlannedBlock RoundPlan::block(int boundary) const {
  return block({.boundary = boundary}, step_seconds(boundary));
}

std::uint64_t RoundPlan::samples_of_live_block() const {
  return static_cast<std::uint64_t>(steps(0) * options_.batch_size);
}

double RoundPlan::block_seconds(const Arm& arm, double step_seconds) const {
  return (warmup(arm.boundary) + steps_for(step_seconds, arm.boundary)) * step_seconds;
}

double RoundPlan::block_seconds(int boundary) const {
  // An unknown boundary takes at most as long as live; a pilot block may have met a stall.
  const int like = piloted(boundary) ? boundary : 0;
  const double usual = usual_seconds_[at(like)];
  return (warmup(boundary) + steps(like)) * (usual > 0 ? usual : step_seconds_[at(like)]);
}

}  // namespace cachebisect
