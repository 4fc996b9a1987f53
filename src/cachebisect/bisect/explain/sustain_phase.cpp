#include "cachebisect/bisect/explain/sustain_phase.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect {
namespace {

constexpr double kSeconds = 3;
/// A flat verdict says that live never falls, and the bounds of an open one that it does not fall
/// far: it is watched for longer than it took.
constexpr double kTimesOfFlat = 3;
constexpr double kMaxOfFlat = 10;
/// Turbo and power limits show within a second.
constexpr double kCeilingSeconds = 1;
constexpr int kGroups = 32;
/// If live slows down on the way, it runs for longer: a few groups would tell nothing.
constexpr double kPatience = 2;

BlockResult run_in_one_piece(BlockRunner& blocks, const RoundPlan& plan, int boundary,
                             double seconds) {
  const double step = plan.step_seconds(boundary);
  const int wanted = std::max(1, static_cast<int>(std::ceil(seconds / step / kGroups)));
  const int group = plan.whole_steps(wanted, boundary);
  // No more steps than needed: those that time cuts off are taken from the epoch too.
  const int groups = (wanted * kGroups + group - 1) / group;
  BlockRequest request{.arm = {.boundary = boundary}, .steps = group * groups};
  request.warmup_steps = plan.warmup(boundary);
  request.groups = groups;
  request.max_seconds = kPatience * seconds;
  return blocks.run(request);
}

}  // namespace

double sustain_seconds(const BisectOptions& options, VerdictKind verdict, double verdict_seconds) {
  if (options.sustain_seconds) return *options.sustain_seconds;
  return verdict == VerdictKind::flat || verdict == VerdictKind::inconclusive
             ? std::clamp(kTimesOfFlat * verdict_seconds, kSeconds, kMaxOfFlat)
             : kSeconds;
}

void run_sustained(BlockRunner& blocks, const RoundPlan& plan, double seconds,
                   Measurements& measured) {
  const double before = blocks.clock();
  blocks.begin_round(-1);
  SustainedRuns& runs = measured.sustained.emplace();
  runs.live = run_in_one_piece(blocks, plan, 0, seconds);
  // An emulated step has no clock that could fall.
  if (measured.chain.device_kind != DeviceKind::emulated) {
    runs.ceiling =
        run_in_one_piece(blocks, plan, measured.stages(), std::min(seconds, kCeilingSeconds));
  }
  runs.seconds = blocks.exclude_since(before);
}

}  // namespace cachebisect
