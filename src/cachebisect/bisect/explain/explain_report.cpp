// What the rounds after a verdict found, as figures and warnings of the report.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cachebisect/bisect/costs/fitted_law.hpp"
#include "cachebisect/bisect/explain/cache_check.hpp"
#include "cachebisect/bisect/explain/explanation.hpp"
#include "cachebisect/bisect/explain/limit.hpp"
#include "cachebisect/bisect/report/format.hpp"

namespace cachebisect {
namespace {

/// The law is believed where it misses a measurement by no more than this.
constexpr double kTrusted = 0.10;
/// What inline probes may cost: where blocks vary by no more than kQuiet, and elsewhere.
constexpr double kProbesQuiet = 0.005;
constexpr double kProbesShared = 0.01;
constexpr double kQuiet = 0.03;

Estimate scaled(const Estimate& ratio, double factor) {
  Estimate out;
  if (ratio.value) out.value = *ratio.value * factor;
  if (ratio.interval) {
    out.interval = Interval{ratio.interval->low * factor, ratio.interval->high * factor};
  }
  return out;
}

/// Width over value; infinite where there is none.
double width(const Estimate& estimate) {
  if (!estimate.value || !estimate.interval) return std::numeric_limits<double>::infinity();
  return (estimate.interval->high - estimate.interval->low) / *estimate.value;
}

/// Ratios to live and to the ceiling, applied to the figures of the table: whichever was steadier
/// beside the arm tells more.
void fill_payoffs(Report& report, const Explanation& explanation) {
  if (!report.live.value || !report.ceiling.value) return;
  for (const Payoff& payoff : explanation.payoffs) {
    const Estimate by_live = scaled(payoff.of_live, *report.live.value);
    const Estimate by_ceiling = scaled(payoff.of_ceiling, *report.ceiling.value);
    report.stages.at(static_cast<std::size_t>(payoff.stage) - 1).payoff =
        width(by_ceiling) < width(by_live) ? by_ceiling : by_live;
  }
}

/// What limits with a stage alone free. Whether the input or the step does, was measured; which
/// stage of the input, the law says where it predicts that arm, else the busiest.
std::string limit_after(const Report& report, const Payoff& payoff) {
  if (payoff.limits.empty() || payoff.limits == kTrainingStep) return payoff.limits;
  const auto law = fit_law(report);
  const auto freed = static_cast<std::size_t>(payoff.stage) - 1;
  const auto& measured = report.stages.at(freed).payoff.value;
  if (!law || !measured) return payoff.limits;
  const LawLimit then = limit(*law, {.stages = {{.stage = freed, .factor = 0}}});
  const bool trusted = std::abs(then.samples_per_second / *measured - 1) <= kTrusted;
  return trusted && !then.stage.empty() ? then.stage : payoff.limits;
}

/// Fixing which stage is worth most, and what limits then.
void fill_next(Report& report, const Explanation& explanation) {
  Verdict& verdict = report.verdict;
  const bool gives = verdict.kind == VerdictKind::drop || verdict.kind == VerdictKind::spread;
  if (!gives || explanation.pays_most == 0) return;
  const StageReport& stage = report.stages.at(static_cast<std::size_t>(explanation.pays_most) - 1);
  verdict.fix_first = stage.name;
  report.next_samples_per_second = stage.payoff.value;
  for (const Payoff& payoff : explanation.payoffs) {
    if (payoff.stage == explanation.pays_most) report.next_stage = limit_after(report, payoff);
  }
}

/// Starvation is the rest of the loss that the verdict's rounds measured, so that the two sum to
/// it; its interval is that of the explaining rounds, widened to hold the rest.
void fill_loss(Report& report, const Explanation& explanation) {
  Loss& loss = report.loss;
  loss.contention = explanation.contention;
  if (!loss.contention.value || !loss.total.value) return;
  loss.starvation.value = *loss.total.value - *loss.contention.value;
  if (!explanation.starvation.interval) return;
  loss.starvation.interval =
      Interval{std::min(explanation.starvation.interval->low, *loss.starvation.value),
               std::max(explanation.starvation.interval->high, *loss.starvation.value)};
}

double most_probes_may_cost(const Report& report) {
  const std::optional<double> varies = report.machine.noise.block_cv;
  return varies && *varies <= kQuiet ? kProbesQuiet : kProbesShared;
}

void fill_warnings(Report& report, const Explanation& explanation) {
  const auto& overhead = explanation.overhead.interval;
  if (overhead && overhead->low > most_probes_may_cost(report)) {
    report.warnings.push_back(
        {"overhead",
         "the inline probes cost " + percent_range(*overhead) + " of the live throughput",
         "the live figure is too low by that much"});
  }
  const auto& change = explanation.larger_cache.interval;
  if (change && (change->low > kCacheChange || change->high < -kCacheChange)) {
    const double share = std::abs(*explanation.larger_cache.value);
    report.warnings.push_back(
        {"cache_too_small",
         "served from twice as many cached samples, a step takes " + percent(share) +
             (change->low > 0 ? " longer: replays from the cache look too fast"
                              : " less time: so many samples are not alike enough"),
         "give the caches more room: --cache-host BYTES"});
  }
  if (explanation.fault) report.warnings.push_back(*explanation.fault);
}

}  // namespace

void fill_explanation(Report& report, const Explanation& explanation) {
  fill_payoffs(report, explanation);
  fill_next(report, explanation);
  fill_loss(report, explanation);
  report.overhead = explanation.overhead;
  report.k2k_change = explanation.larger_cache.value;
  report.timing.cache_seconds += explanation.fill_seconds;
  fill_warnings(report, explanation);
}

}  // namespace cachebisect
