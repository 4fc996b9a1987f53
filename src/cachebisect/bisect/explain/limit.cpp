#include "cachebisect/bisect/explain/limit.hpp"

namespace cachebisect {
namespace {

/// The training thread waits for less of its time than this: it is not the input that limits.
constexpr double kHardlyStarved = 0.05;
/// So close to the ceiling there is nothing left to lose.
constexpr double kAtCeiling = 0.02;

bool on_host(const StageDescription& stage) { return runs_on_host(stage.category); }

}  // namespace

std::string find_limit(const ChainDescription& chain, const LimitQuestion& question) {
  const ArmTotals& totals = question.totals;
  if (totals.samples <= 0 || totals.seconds <= 0) return {};
  const double tau = totals.seconds / totals.samples;
  if (tau <= question.ceiling_seconds * (1 + kAtCeiling)) return kTrainingStep;
  if (totals.starved_seconds < kHardlyStarved * totals.seconds) {
    return question.device_side_drop > kAtCeiling ? question.device_side_stage : kTrainingStep;
  }
  double busiest = 0;
  std::string name;
  for (std::size_t s = 0; s < totals.stages.size() && s < chain.stages.size(); ++s) {
    const StageCounters& counters = totals.stages[s];
    const bool runs = static_cast<int>(s) + 1 != question.free_stage && counters.samples > 0;
    if (!runs || !on_host(chain.stages[s])) continue;
    const double busy = counters.busy_seconds / static_cast<double>(counters.samples);
    if (busy <= busiest) continue;
    busiest = busy;
    name = chain.stages[s].name;
  }
  // Inline, the step and all stages add up: the largest of them limits.
  if (chain.workers == 0 && question.ceiling_seconds > busiest) return kTrainingStep;
  return name;
}

}  // namespace cachebisect
