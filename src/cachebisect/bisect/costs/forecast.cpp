#include "cachebisect/bisect/costs/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cachebisect {
namespace {

/// No prediction is printed narrower than this on either side: probes, timer, the law's own form.
constexpr double kLeastHalfWidth = 0.01;
/// Two servers nearer to each other than this take turns in waiting where costs vary.
constexpr double kClear = 1.15;
constexpr double kMostLostToTies = 0.10;
/// A training thread that computes for less of the time than this wants no core worth counting.
constexpr double kBusyTrainer = 0.05;
/// Bounds nearer to each other than this say nothing of where between them a figure lies.
constexpr double kTells = 1.02;
/// A stage that computes for less of a sample's time than this, and shares it, hardly matters.
constexpr double kSuspect = 0.2;

/// Measured at a boundary of its own, not scaled from the live pipeline.
bool measured_alone(const LawLimit& limit) {
  return limit.server == Server::step || limit.server == Server::copy;
}

/// What two servers that take turns in waiting may lose, as a share: the more the nearer they are.
double share_lost_to_ties(const LawLimit& limit) {
  return kMostLostToTies * std::clamp((kClear - limit.margin) / (kClear - 1), 0.0, 1.0);
}

/// Of a worker, for a sample.
double worker_seconds(const LawInput& in) {
  return std::accumulate(in.live_seconds.begin(), in.live_seconds.end(), in.serve_seconds);
}

/// Seconds a sample where a training thread that computes and workers that compute want more cores
/// than there are: at worst they take turns. The law's seconds where they do not.
double seconds_in_turns(const LawInput& in) {
  const double tau = predicted_seconds_per_sample(in);
  const bool enough = in.workers < 1 || in.workers + 1 <= in.cores;
  if (enough || in.trainer_seconds < kBusyTrainer * tau) return tau;
  const double computed = std::max(0.0, in.cpu_seconds - in.trainer_seconds);
  const double loading = std::max(computed / in.cores, worker_seconds(in) / in.workers);
  return std::max(tau, in.trainer_seconds + loading);
}

/// How much of what taking turns may cost the live pipeline loses: 0 to 1; none where nothing
/// tells.
double turns(const FittedLaw& law, double samples_per_second) {
  const LawInput in = law_input(law, {});
  const double least = predicted_seconds_per_sample(in);
  const double most = seconds_in_turns(in);
  if (most < kTells * least) return 0;
  return std::clamp((1 / samples_per_second - least) / (most - least), 0.0, 1.0);
}

/// What workers that outnumber the cores may lose by waiting for them, as a share: mean value
/// analysis of a closed queue with exponential costs (Reiser and Lavenberg 1980), many cores as one
/// fast one behind a delay (Seidmann et al. 1987). Costs that vary less lose less.
double share_lost_to_cores(const LawInput& in) {
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

/// What more workers than cores lose, as a share, where they meet on something that all share: at
/// worst nothing else is computed meanwhile.
double share_lost_to_turns(const LawInput& in) {
  if (in.workers <= in.cores || in.memory_seconds <= 0) return 0;
  const double others = std::max(0.0, in.cpu_seconds - in.memory_seconds);
  return std::max(0.0,
                  1 - predicted_seconds_per_sample(in) / (in.memory_seconds + others / in.cores));
}

/// The law if all serial sections were one, which no counter shows; none where there are not two
/// of them, or where that would have kept the live pipeline from being as fast as it is.
std::optional<FittedLaw> one_lock(const FittedLaw& law, double live_seconds) {
  FittedLaw one = law;
  double sum = 0;
  int sections = 0;
  for (StageCost& stage : one.stages) {
    sum += stage.serial_seconds;
    sections += stage.serial_seconds > 0 ? 1 : 0;
    stage.shared_seconds += stage.serial_seconds;
  }
  if (sections < 2 || sum > kTells * live_seconds) return std::nullopt;
  return one;
}

/// The law if a stage that may share what it computes with does so: no longer than the live
/// pipeline takes for a sample, nor any replay that it ran in.
std::vector<FittedLaw> suspicions(const FittedLaw& law, const BesideLive& measured) {
  std::vector<FittedLaw> all;
  double least = measured.seconds.front().value_or(0);
  for (std::size_t s = 0; s < law.stages.size(); ++s) {
    if (measured.seconds[s]) least = std::min(least, *measured.seconds[s]);
    const StageCost& stage = law.stages[s];
    if (!stage.may_share || stage.cpu_seconds < kSuspect * least) continue;
    FittedLaw& suspicion = all.emplace_back(law);
    StageCost& shared = suspicion.stages[s];
    shared.shared_seconds = std::min(stage.cpu_seconds, least);
    shared.worker_seconds -= stage.cpu_seconds - shared.shared_seconds;
    shared.cpu_seconds = shared.shared_seconds;
  }
  if (auto one = one_lock(law, measured.seconds.front().value_or(0))) {
    all.push_back(std::move(*one));
  }
  return all;
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// Of the median, or of all where there are too few for that; holds `value`.
Interval spread(const std::vector<double>& values, double confidence, double value) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const Interval all{*least, *most};
  return hull(median_interval(values, confidence).value_or(all), {value, value});
}

}  // namespace

std::optional<Forecast> Forecast::of(const Report& report) {
  const auto law = fit_law(report);
  if (!law || !report.live.value) return std::nullopt;
  Forecast forecast;
  forecast.law_ = *law;
  forecast.misfit_ = cachebisect::misfit(*law, report);
  forecast.live_ = report.live;
  forecast.confidence_ = report.settings.confidence;
  const RoundRatios ratios(report);
  const std::vector<StageSharing> sharing = find_sharing(report, ratios);
  for (const BlockRecord& record : report.blocks) {
    if (!shows_live_costs(record)) continue;
    const auto own = fit_law(report, record, ratios, sharing);
    if (!own) continue;
    const double rate = static_cast<double>(record.result.samples) / record.result.seconds;
    forecast.blocks_.push_back({*own, *report.live.value / rate});
  }
  if (forecast.blocks_.empty()) return std::nullopt;
  forecast.turns_ = turns(*law, *report.live.value);
  forecast.suspicions_ = suspicions(*law, ratios.beside_mean());
  return forecast;
}

double Forecast::rate(const FittedLaw& law, const LawChanges& changes) const {
  const LawInput in = law_input(law, changes);
  const double least = predicted_seconds_per_sample(in);
  return 1 / std::max(least + turns_ * (seconds_in_turns(in) - least), 1e-12);
}

Interval Forecast::over_blocks(const LawChanges& changes, double relative, double absolute) const {
  std::vector<double> scaled;
  std::vector<double> plain;
  for (const Block& block : blocks_) {
    const double then = rate(block.law, changes);
    plain.push_back(then * block.stretch);
    scaled.push_back(*live_.value * then / rate(block.law, {}));
  }
  return hull(spread(scaled, confidence_, relative), spread(plain, confidence_, absolute));
}

Interval Forecast::over_suspicions(const LawChanges& changes, Interval interval) const {
  for (const FittedLaw& suspicion : suspicions_) {
    const double likely = *live_.value * predict(suspicion, changes) / predict(suspicion);
    const double least = likely * (1 - share_lost_to_turns(law_input(suspicion, changes)));
    interval = hull(interval, {least, std::max(least, likely)});
  }
  return interval;
}

Estimate Forecast::after(const LawChanges& changes) const {
  const LawLimit now = limit(law_);
  const LawLimit then = limit(law_, changes);
  const LawInput in = law_input(law_, changes);
  // Relative to what was measured live, and absolute: they differ by the law's misfit.
  const double absolute = rate(law_, changes);
  const double relative = *live_.value * absolute / rate(law_, {});
  const bool moved = then.server != now.server || then.stage != now.stage;
  const bool tied = now.margin < kClear && then.margin >= kClear;
  Estimate estimate;
  estimate.value = moved && (measured_alone(then) || tied) ? absolute : relative;
  Interval interval = over_suspicions(changes, over_blocks(changes, relative, absolute));
  const double best = predicted_seconds_per_sample(in);
  const double worst = std::max(seconds_in_turns(in), best / (1 - share_lost_to_turns(in)));
  if (worst > best) interval = hull(interval, {1 / worst, 1 / best});
  interval.low *= 1 - kLeastHalfWidth - share_lost_to_ties(then) - share_lost_to_cores(in);
  interval.high *= 1 + kLeastHalfWidth;
  estimate.interval = interval;
  return estimate;
}

Estimate Forecast::between(const LawChanges& likely, const LawChanges& other) const {
  Estimate estimate = after(likely);
  estimate.interval = hull(*estimate.interval, *after(other).interval);
  return estimate;
}

double Forecast::unqueued() const {
  const auto times = server_seconds(law_input(law_, {}));
  const auto of = [&](Server server) { return times[static_cast<std::size_t>(server)]; };
  const double line =
      of(Server::workers) + of(Server::training_thread) + of(Server::copy) + of(Server::step);
  return 1 / std::max({line, of(Server::cpu), of(Server::lock), of(Server::memory), 1e-12});
}

}  // namespace cachebisect
