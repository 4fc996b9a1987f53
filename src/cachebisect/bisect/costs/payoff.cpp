#include "cachebisect/bisect/costs/payoff.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/costs/law.hpp"

namespace cachebisect {
namespace {

constexpr double kTrusted = 0.10;
constexpr double kWorthSaying = 1.03;

/// The law of the host stages, with what was measured behind collate as the device's share.
struct HostLaw {
  std::vector<double> costs;  ///< busy seconds a sample, host stages in order
  std::vector<double> cpu;
  LawInput input;

  [[nodiscard]] double without(std::optional<std::size_t> stage) const {
    LawInput changed = input;
    for (std::size_t s = 0; s < costs.size(); ++s) {
      if (s == stage) continue;
      changed.live_seconds.push_back(costs[s]);
      changed.cpu_seconds += cpu[s];
    }
    return predicted_seconds_per_sample(changed);
  }
};

std::optional<HostLaw> host_law(const Report& report) {
  HostLaw law;
  law.input.workers = report.chain.workers;
  if (report.machine.usable_cpus > 0) law.input.cores = report.machine.usable_cpus;
  std::size_t host = 0;
  for (const StageReport& stage : report.stages) {
    if (!runs_on_host(stage.category)) break;
    ++host;
    const bool free = stage.category == Category::collate && !stage.cpu_seconds_per_sample;
    if (!free && !stage.cpu_seconds_per_sample) return std::nullopt;
    law.cpu.push_back(stage.cpu_seconds_per_sample.value_or(0));
    law.costs.push_back(law.cpu.back() + stage.wait_seconds_per_sample.value_or(0));
  }
  const auto& behind = report.boundaries[host].seconds_per_sample;
  if (!behind) return std::nullopt;
  // With workers, what is behind runs beside them; inline, after them.
  (report.chain.workers > 0 ? law.input.step_seconds : law.input.trainer_seconds) = *behind;
  return law;
}

}  // namespace

std::optional<PredictedPayoff> best_payoff(const Report& report) {
  const auto law = host_law(report);
  const auto& live = report.live.value;
  if (!law || !live) return std::nullopt;
  if (std::abs(law->without(std::nullopt) * *live - 1) > kTrusted) return std::nullopt;
  std::optional<PredictedPayoff> best;
  double named = 0;
  for (std::size_t s = 0; s < law->costs.size(); ++s) {
    const double rate = 1 / std::max(law->without(s), 1e-12);
    if (!best || rate > best->samples_per_second) best = {report.stages[s].name, rate};
    if (report.stages[s].name == report.verdict.stage) named = rate;
  }
  // A named stage behind the host's has no figure here: nothing is known against it.
  if (!best || named <= 0 || best->samples_per_second < kWorthSaying * named) return std::nullopt;
  return best;
}

}  // namespace cachebisect
