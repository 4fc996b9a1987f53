#include "cachebisect/bisect/analysis/limit.hpp"

#include <cmath>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

struct Busiest {
  std::string name;
  double seconds = 0;  ///< per sample
};

Busiest busiest_stage(const ChainDescription& chain, const FreedStage& freed) {
  Busiest busiest;
  const auto& stages = freed.totals.stages;
  for (std::size_t s = 0; s < stages.size() && s < chain.stages.size(); ++s) {
    const bool runs = static_cast<int>(s) + 1 != freed.stage && stages[s].samples > 0;
    if (!runs || !runs_on_host(chain.stages[s].category)) continue;
    const double busy = stages[s].busy_seconds / static_cast<double>(stages[s].samples);
    if (busy > busiest.seconds) busiest = {chain.stages[s].name, busy};
  }
  return busiest;
}

/// By the cost model; empty if it does not predict this arm.
std::string predicted_limit(const FreedStage& freed, const std::optional<Forecast>& forecast) {
  if (!forecast || freed.samples_per_second <= 0) return {};
  const auto stage = static_cast<std::size_t>(freed.stage) - 1;
  const Limit then = limit_of(forecast->costs(), {.stages = {{.stage = stage, .factor = 0}}});
  const double off = std::abs(then.samples_per_second / freed.samples_per_second - 1);
  return off <= kOtherJob ? then.stage : std::string();
}

}  // namespace

std::string find_limit(const ChainDescription& chain, const FreedStage& freed,
                       const std::optional<Forecast>& forecast) {
  const BlockTotals& totals = freed.totals;
  if (totals.samples <= 0 || totals.seconds <= 0) return {};
  const double tau = totals.seconds / totals.samples;
  if (tau <= freed.ceiling_seconds * (1 + kNegligible)) return kTrainingStep;
  // A training thread that hardly waits is not limited by its input.
  if (totals.starved_seconds < kReportAbove * totals.seconds) {
    return freed.device_side_drop > kNegligible ? freed.device_side_stage : kTrainingStep;
  }
  const Busiest busiest = busiest_stage(chain, freed);
  // Without workers, the step and all stages add up: the largest of them limits.
  if (chain.workers == 0 && freed.ceiling_seconds > busiest.seconds) return kTrainingStep;
  if (busiest.name.empty()) return {};
  const std::string predicted = predicted_limit(freed, forecast);
  return predicted.empty() ? busiest.name : predicted;
}

}  // namespace cachebisect
