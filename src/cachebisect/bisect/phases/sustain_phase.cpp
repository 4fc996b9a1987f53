#include "cachebisect/bisect/phases/sustain_phase.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "cachebisect/bisect/evidence/stalls.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Longer than queues, read-ahead and turbo last as a rule.
constexpr double kSeconds = 3;
/// A drop that only a slower live could change.
constexpr double kSecondsOfEmptyRing = 0.5;
/// Batches that are ready when the training thread asks, in a ring that never fills.
constexpr double kEmptyRing = 0.1;
/// Share of the time of live blocks spent waiting for a batch: a loader that slow never gets ahead
/// of the step, also if its batches come in groups.
constexpr double kStarved = 0.25;
/// A flat verdict says that live never falls, and the bounds of an open one that it does not fall
/// far: it is watched for longer than it took.
constexpr double kTimesOfFlat = 4;
constexpr double kMaxOfFlat = 12;
/// Turbo and power limits show within a second.
constexpr double kCeilingSeconds = 1;
constexpr int kGroups = 32;
/// If live slows down on the way, it runs for so many times longer: a few groups would tell
/// nothing. If it ends slower than that, it runs once more at that pace.
constexpr double kPatience = 2;

/// Seconds of a step at the end of a run.
double last_step_seconds(const BlockResult& run) {
  const double steps = std::max(1, run.steps);
  if (run.group_taus.empty()) return run.seconds / steps;
  return run.group_taus.back() * static_cast<double>(run.samples) / steps;
}

BlockResult run_in_one_piece(BlockRunner& blocks, const RoundPlan& plan, int boundary,
                             double seconds, double step) {
  const int wanted = std::max(1, static_cast<int>(std::ceil(seconds / step / kGroups)));
  const int group = plan.lengths().whole_steps(wanted, boundary);
  // No more steps than needed: those that time cuts off are taken from the epoch too.
  const double fitting = std::ceil(seconds / (step * wanted));
  const int steps = wanted * static_cast<int>(std::clamp<double>(fitting, kMinGroups, kGroups));
  const int groups = (steps + group - 1) / group;
  BlockRequest request{.arm = {.boundary = boundary}, .steps = group * groups};
  request.warmup_steps = plan.lengths().warmup(boundary, step);
  request.groups = groups;
  request.max_seconds = kPatience * std::max(seconds, kMinGroups * wanted * step);
  return blocks.run(request);
}

/// True if the training thread found the ring of live empty: a longer run cannot fill it.
bool finds_empty_ring(const Measurements& measured) {
  const std::optional<double> ready = ready_batches_of_live(measured.blocks);
  return (ready && *ready <= kEmptyRing) ||
         waiting_of_live(measured.blocks).share().value_or(0) > kStarved;
}

/// Measures the slow pace if live falls on the way.
void run_live(BlockRunner& blocks, const RoundPlan& plan, double seconds, SustainedRuns& runs) {
  double step = plan.usual_step_seconds(0);
  runs.live = run_in_one_piece(blocks, plan, 0, seconds, step);
  for (int i = 1; i < kMaxTries && last_step_seconds(runs.live) > kPatience * step; ++i) {
    step = last_step_seconds(runs.live);
    runs.shorter_live.push_back(
        std::exchange(runs.live, run_in_one_piece(blocks, plan, 0, seconds, step)));
  }
}

}  // namespace

double sustain_seconds(const BisectOptions& options, VerdictKind verdict,
                       const Measurements& measured) {
  if (options.sustain_seconds) return *options.sustain_seconds;
  if (verdict == VerdictKind::flat || verdict == VerdictKind::inconclusive) {
    return std::clamp(kTimesOfFlat * measured.verdict.seconds, kSeconds, kMaxOfFlat);
  }
  if (!finds_empty_ring(measured)) return kSeconds;
  return step_may_slow_down(measured.chain) ? kCeilingSeconds : kSecondsOfEmptyRing;
}

void run_sustained(BlockRunner& blocks, const RoundPlan& plan, double seconds,
                   Measurements& measured) {
  const double before = blocks.clock();
  blocks.begin_round(-1);
  SustainedRuns runs;
  run_live(blocks, plan, seconds, runs);
  const std::array live{watched_blocks(measured.blocks, 0), groups_of(runs.live)};
  const bool stalls = stalled_share(live, measured.settings.confidence).share > 0;
  if (stalls || step_may_slow_down(measured.chain)) {
    const int ceiling = measured.stages();
    // A machine that stalls live stalls the step alone as often.
    const double watched = stalls ? seconds : std::min(seconds, kCeilingSeconds);
    runs.ceiling =
        run_in_one_piece(blocks, plan, ceiling, watched, plan.usual_step_seconds(ceiling));
  }
  runs.seconds = blocks.exclude_since(before);
  measured.sustained = std::move(runs);
}

}  // namespace cachebisect
