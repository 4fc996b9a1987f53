#include "cachebisect/bisect/costs/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/costs/turns.hpp"
#include "cachebisect/bisect/evidence/throughput.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Two servers closer to each other than this wait for each other in turns if costs vary.
constexpr double kClear = 1.15;
constexpr double kMaxLostToTies = 0.10;

/// True if the server was measured at a boundary of its own, not scaled from the live pipeline.
bool measured_alone(const Limit& limit) {
  return limit.server == Server::step || limit.server == Server::copy;
}

/// The share that two servers may lose by waiting for each other: the more, the closer they are.
double share_lost_to_ties(const Limit& limit) {
  return kMaxLostToTies * std::clamp((kClear - limit.margin) / (kClear - 1), 0.0, 1.0);
}

/// Seconds of one worker per sample.
double worker_seconds(const Demands& in) {
  return std::accumulate(in.live_seconds.begin(), in.live_seconds.end(), in.serve_seconds);
}

/// The share that workers may lose by waiting for cores if there are more workers than cores: mean
/// value analysis of a closed queue with exponential costs (Reiser and Lavenberg 1980), with
/// several cores as one fast core behind a delay (Seidmann et al. 1987). Costs that vary less lose
/// less.
double share_lost_to_cores(const Demands& in) {
  if (in.workers <= in.cores || in.cpu_seconds <= 0) return 0;
  const double cycle = worker_seconds(in);
  const double core = std::min(in.cpu_seconds, cycle) / in.cores;
  double rate = 0;
  double queue = 0;
  for (int n = 1; n <= in.workers; ++n) {
    const double response = core * (1 + queue);
    rate = n / std::max(cycle - core + response, 1e-12);
    queue = rate * response;
  }
  return std::max(0.0, 1 - rate * predicted_seconds_per_sample(in));
}

/// The share that more workers than cores lose if they meet on a shared resource: at worst nothing
/// else is computed meanwhile.
double share_lost_to_turns(const Demands& in) {
  if (in.workers <= in.cores || in.memory_seconds <= 0) return 0;
  const double others = std::max(0.0, in.cpu_seconds - in.memory_seconds);
  return std::max(0.0,
                  1 - predicted_seconds_per_sample(in) / (in.memory_seconds + others / in.cores));
}

/// The costs if all serial sections were one, which no counter shows. Empty if there are fewer than
/// two, or if the live pipeline is faster than that allows.
std::optional<CostModel> one_lock(const CostModel& costs, double live_seconds) {
  CostModel one = costs;
  double sum = 0;
  int sections = 0;
  for (StageCost& stage : one.stages) {
    sum += stage.serial_seconds;
    sections += stage.serial_seconds > 0 ? 1 : 0;
    stage.shared_seconds += stage.serial_seconds;
  }
  if (sections < 2 || sum > (1 + kNegligible) * live_seconds) return std::nullopt;
  return one;
}

/// The costs if a stage that may share a resource does so: for no longer than a sample takes live
/// or in any replay that ran the stage.
std::vector<CostModel> alternatives(const CostModel& costs, const PacedTaus& measured) {
  std::vector<CostModel> all;
  double least = measured.seconds.front().value_or(0);
  for (std::size_t s = 0; s < costs.stages.size(); ++s) {
    if (measured.seconds[s]) least = std::min(least, *measured.seconds[s]);
    const StageCost& stage = costs.stages[s];
    if (!stage.may_share || stage.cpu_seconds < kNegligible * least) continue;
    CostModel& other = all.emplace_back(costs);
    StageCost& shared = other.stages[s];
    shared.shared_seconds = std::min(stage.cpu_seconds, least);
    shared.worker_seconds -= stage.cpu_seconds - shared.shared_seconds;
    shared.cpu_seconds = shared.shared_seconds;
  }
  if (auto one = one_lock(costs, measured.seconds.front().value_or(0))) {
    all.push_back(std::move(*one));
  }
  return all;
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// The interval of the median, or the range of all values if there are too few; holds `value`.
Interval spread(const std::vector<double>& values, double confidence, double value) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const Interval all{*least, *most};
  return hull(median_interval(values, confidence).value_or(all), {value, value});
}

}  // namespace

std::optional<Forecast> Forecast::of(const Measurements& measured) {
  if (measured.verdict.table.rounds() == 0) return std::nullopt;
  const RoundRatios ratios(measured);
  const CostFit fit(measured, ratios);
  auto costs = fit.fit();
  if (!costs) return std::nullopt;
  const PacedTaus paced = ratios.at_mean_pace();
  Forecast forecast;
  forecast.costs_ = std::move(*costs);
  forecast.misfit_ = misfit_of(forecast.costs_, paced);
  forecast.confidence_ = measured.settings.confidence;
  forecast.live_ = throughput(measured.verdict.table, 0, forecast.confidence_);
  const RoundTable& table = measured.verdict.table;
  if (const auto reached = throughput(table, table.last(), forecast.confidence_).interval;
      reached && table.last() > 0) {
    forecast.ceiling_ = reached->high;
  }
  for (const BlockRecord& record : measured.blocks) {
    if (!record.shows_live() || !record.has_counters()) continue;
    auto own = fit.fit_to(record);
    if (!own) continue;
    const double stretch = *forecast.live_.value * record.seconds_per_sample();
    forecast.blocks_.push_back({std::move(*own), stretch});
  }
  if (forecast.blocks_.empty()) return std::nullopt;
  forecast.turns_ = share_in_turns(forecast.costs_, *forecast.live_.value);
  forecast.alternatives_ = alternatives(forecast.costs_, paced);
  if (measured.usable_cpus() > forecast.costs_.cores) {
    // At best a hyper-thread is as good as a core.
    forecast.alternatives_.push_back(forecast.costs_);
    forecast.alternatives_.back().cores = measured.usable_cpus();
  }
  return forecast;
}

double Forecast::rate(const CostModel& costs, const CostChanges& changes) const {
  const Demands in = demands_of(costs, changes);
  const double least = predicted_seconds_per_sample(in);
  return 1 / std::max(least + turns_ * (seconds_in_turns(in) - least), 1e-12);
}

Interval Forecast::over_blocks(const CostChanges& changes, double relative, double absolute) const {
  std::vector<double> scaled;
  std::vector<double> plain;
  for (const Block& block : blocks_) {
    const double then = rate(block.costs, changes);
    plain.push_back(then * block.stretch);
    scaled.push_back(*live_.value * then / rate(block.costs, {}));
  }
  return hull(spread(scaled, confidence_, relative), spread(plain, confidence_, absolute));
}

Interval Forecast::over_alternatives(const CostChanges& changes, Interval interval) const {
  for (const CostModel& other : alternatives_) {
    const double likely = *live_.value * predict(other, changes) / predict(other);
    const double least = likely * (1 - share_lost_to_turns(demands_of(other, changes)));
    interval = hull(interval, {least, std::max(least, likely)});
  }
  return interval;
}

Estimate Forecast::after(const CostChanges& changes) const {
  Estimate estimate = after_exactly(changes);
  const auto widen = [&](const CostChanges& other) {
    estimate.interval = hull(*estimate.interval, *after_exactly(other).interval);
  };
  for (const bool less : {true, false}) {
    CostChanges other = changes;
    const double added = less ? 1 / changes.added_within : changes.added_within;
    other.added_seconds *= added;
    other.received_seconds *= added;
    if (changes.added_seconds + changes.received_seconds > 0) widen(other);
    other = changes;
    other.step_factor *= less ? 1 / changes.step_within : changes.step_within;
    if (changes.step_within > 1) widen(other);
  }
  return estimate;
}

Estimate Forecast::after_exactly(const CostChanges& changes) const {
  const Limit now = limit_of(costs_);
  const Limit then = limit_of(costs_, changes);
  const Demands in = demands_of(costs_, changes);
  // Relative to what was measured live, and absolute: they differ by the law's misfit.
  const double absolute = rate(costs_, changes);
  const double relative = *live_.value * absolute / rate(costs_, {});
  const bool moved = then.server != now.server || then.stage != now.stage;
  const bool tied = now.margin < kClear && then.margin >= kClear;
  Estimate estimate;
  estimate.value = moved && (measured_alone(then) || tied) ? absolute : relative;
  Interval interval = over_alternatives(changes, over_blocks(changes, relative, absolute));
  const double best = predicted_seconds_per_sample(in);
  const double worst = std::max(seconds_in_turns(in), best / (1 - share_lost_to_turns(in)));
  if (worst > best) interval = hull(interval, {1 / worst, 1 / best});
  interval.low = 1 / (1 / interval.low + changes.unknown_seconds);
  interval.low *= 1 - kKnownTo - share_lost_to_ties(then) - share_lost_to_cores(in);
  interval.low *= 1 - turns_ * share_lost_to_switches(in);
  interval.high *= 1 + kKnownTo;
  estimate.interval = interval;
  limit_to_ceiling(estimate, changes);
  return estimate;
}

void Forecast::limit_to_ceiling(Estimate& estimate, const CostChanges& changes) const {
  if (!ceiling_ || changes.step_factor <= 0) return;
  double most = *ceiling_ / changes.step_factor;
  if (const auto& machine = changes.machine) {
    most *= costs_.device_is_host ? machine->core_speed : machine->device_speed;
  }
  estimate.value = std::min(*estimate.value, most);
  estimate.interval->low = std::min(estimate.interval->low, *estimate.value);
  estimate.interval->high = std::min(estimate.interval->high, (1 + kKnownTo) * most);
}

Estimate Forecast::between(const CostChanges& likely, const CostChanges& other) const {
  Estimate estimate = after(likely);
  estimate.interval = hull(*estimate.interval, *after(other).interval);
  return estimate;
}

double Forecast::variation(std::size_t stage) const {
  std::vector<double> seconds;
  for (const Block& block : blocks_) {
    seconds.push_back(block.costs.stages.at(stage).worker_seconds);
  }
  return coefficient_of_variation(seconds);
}

double Forecast::unqueued() const {
  const auto times = server_seconds(demands_of(costs_));
  const auto of = [&](Server server) { return times[static_cast<std::size_t>(server)]; };
  const double sum =
      of(Server::workers) + of(Server::training_thread) + of(Server::copy) + of(Server::step);
  return 1 / std::max({sum, of(Server::cpu), of(Server::lock), of(Server::memory), 1e-12});
}

}  // namespace cachebisect
