#include "cachebisect/bisect/phases/pilot.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/bisect/costs/prior.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/settling.hpp"

namespace cachebisect {
namespace {

/// A pilot block is half as long as one that counts.
constexpr double kPilotShare = 0.5;
constexpr double kAgree = 0.01;
/// Untimed rings of batches if workers crowd out a training thread that is busy (the ring fills at
/// its expense until it is full), or if three workers or more work much on whole batches (one at a
/// time falls behind, and they move apart only slowly from their common start).
constexpr int kRingsToSettle = 3;
/// Above this share of work on whole batches they come in groups.
constexpr double kMuchOnBatches = 0.1;

/// True if the training thread of live found the ring nearly full: the workers are far ahead, and
/// the training thread, whose pace the first steps show, limits.
bool found_full_ring(const BlockResult& live, const ChainDescription& chain) {
  return live.ready_batches && *live.ready_batches >= kNearlyAll * (chain.ring_slots - 1);
}

/// The share of the workers' time in collate and batch stages; 0 without probes.
double share_of_batches(const ChainDescription& chain, const BlockResult& live) {
  double batches = 0;
  double all = 0;
  for (std::size_t s = 0; s < std::min(live.stages.size(), chain.stages.size()); ++s) {
    const StageKind kind = chain.stages[s].kind;
    if (kind == StageKind::copy || kind == StageKind::device) continue;
    all += live.stages[s].busy_seconds;
    if (works_on_batches(kind)) batches += live.stages[s].busy_seconds;
  }
  return all > 0 ? batches / all : 0;
}

}  // namespace

Pilot::Pilot(BlockRunner& runner, RoundPlan& plan, const ChainDescription& chain)
    : runner_(&runner),
      plan_(&plan),
      chain_(&chain),
      emulated_(chain.device_kind == DeviceKind::emulated),
      max_warmup_(settling_steps(chain.workers, chain.ring_slots)),
      ceiling_(static_cast<int>(chain.stages.size())) {}

int Pilot::pilot_steps(double step_seconds) const {
  return plan_->lengths().steps_for(step_seconds / kPilotShare);
}

double Pilot::block(int boundary, int warmup, int steps) {
  const BlockResult result = runner_->run({.boundary = boundary}, warmup, steps);
  return result.seconds / std::max(1, result.steps);
}

double Pilot::block_within_quota(int boundary, double step_seconds) {
  const double needed = runner_->quota_period();
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    const int steps = pilot_steps(step_seconds);
    step_seconds = block(boundary, plan_->lengths().warmup(boundary, step_seconds), steps);
    if (steps * step_seconds >= needed) break;
  }
  return step_seconds;
}

void Pilot::ends() {
  runner_->begin_round(-1);
  if (emulated_ && !chain_->keeps_queues) {
    plan_->lengths().set_warmup(chain_->workers < 2 ? kMinWarmup : max_warmup_);
  }
  // The first block also pays for what a process does once; next to slow steps that is little.
  double ceiling = block(ceiling_, plan_->lengths().warmup(ceiling_), kMinSteps);
  if (pilot_steps(ceiling) > kMinSteps) {
    ceiling = block(ceiling_, plan_->lengths().warmup(ceiling_), pilot_steps(ceiling));
  }
  plan_->set_pilot(ceiling_, ceiling);
  double first = first_of_live();
  const BlockResult& live = runner_->records().back().result;
  const int rings = rings_to_settle(live);
  const bool even = share_of_batches(*chain_, live) <= kMuchOnBatches;
  const bool grouped =
      !even && chain_->keeps_queues && chain_->loader == LoaderKind::sample && chain_->workers > 1;
  if (rings > 1 || grouped) {
    max_warmup_ *= rings;
    plan_->lengths().set_even_batches(even);
    if (emulated_ && !chain_->keeps_queues) plan_->lengths().set_warmup(max_warmup_);
    first = block(0, plan_->lengths().warmup(0), pilot_steps(first));
  }
  if (plan_->follow_quota(runner_->quota_period())) {
    ceiling = block_within_quota(ceiling_, ceiling);
    plan_->set_pilot(ceiling_, ceiling);
    first = block_within_quota(0, first);
  }
  plan_->set_pilot(0, first);
  plan_->set_prior(expected_seconds(*chain_, runner_->records().back().result,
                                    ceiling / static_cast<double>(chain_->batch_size)));
  if (emulated_ || chain_->keeps_queues) return;
  if (found_full_ring(runner_->records().back().result, *chain_)) {
    plan_->lengths().set_warmup(kMinWarmup);
  } else {
    choose_warmup(first);
  }
}

/// Live may be slower by orders of magnitude: a few steps first, then as many as fit a block.
double Pilot::first_of_live() {
  const double first = block(0, plan_->lengths().warmup(0), kMinSteps);
  if (pilot_steps(first) <= kMinSteps) return first;
  return block(0, plan_->lengths().warmup(0), pilot_steps(first));
}

int Pilot::rings_to_settle(const BlockResult& live) const {
  if (chain_->workers < 2 || chain_->keeps_queues) return 1;
  const double cores = chain_->usable_cpus ? *chain_->usable_cpus : physical_cores(probe_machine());
  const bool trains = live.trainer_seconds > kBusyTrainer * live.seconds;
  const bool batches = chain_->workers > 2 && share_of_batches(*chain_, live) > kMuchOnBatches;
  return batches || (trains && chain_->workers + 1 > cores) ? kRingsToSettle : 1;
}

void Pilot::choose_warmup(double first_step) {
  std::vector<int> choices;
  for (const int choice : {kMinWarmup, 4, max_warmup_}) {
    const int whole = plan_->lengths().whole_warmup(choice);
    if (choices.empty() || choices.back() != whole) choices.push_back(whole);
  }
  const int steps = plan_->steps(0);
  double before = first_step;
  for (std::size_t i = 0; i + 1 < choices.size(); ++i) {
    plan_->lengths().set_warmup(choices[i]);
    if (runner_->left() < 4 * plan_->block_seconds(0)) return;
    const double next = block(0, choices[i + 1], steps);
    const bool agree = std::abs(next / before - 1) <= kAgree;
    plan_->set_pilot(0, next);
    if (agree) return;
    before = next;
  }
  plan_->lengths().set_warmup(choices.back());
}

void Pilot::measure(int boundary) {
  // No boundary is much slower than live.
  const double guess = plan_->block_seconds(0) / (plan_->lengths().warmup(0) + plan_->steps(0));
  plan_->set_pilot(boundary, block_within_quota(boundary, guess));
}

void Pilot::explore() {
  while (runner_->left() > 0) {
    const std::optional<int> boundary = plan_->to_pilot();
    if (!boundary) break;
    measure(*boundary);
  }
  for (const int boundary : plan_->boundaries()) {
    if (runner_->left() > 0 && !plan_->piloted(boundary)) measure(boundary);
  }
}

}  // namespace cachebisect
