#include "cachebisect/bisect/law/forecast.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect {
namespace {

/// No prediction is printed narrower than this on either side: probes, timer, the law's own form.
constexpr double kLeastHalfWidth = 0.01;
/// Two servers nearer to each other than this take turns in waiting where costs vary.
constexpr double kClear = 1.15;
constexpr double kMostLostToTies = 0.10;
/// A training thread that computes for less of the time than this wants no core worth counting.
constexpr double kBusyTrainer = 0.05;

/// Measured at a boundary of its own, not scaled from the live pipeline.
bool measured_alone(const LawLimit& limit) {
  return limit.server == Server::step || limit.server == Server::copy;
}

/// What two servers that take turns in waiting may lose, as a share: the more the nearer they are.
double share_lost_to_ties(const LawLimit& limit) {
  return kMostLostToTies * std::clamp((kClear - limit.margin) / (kClear - 1), 0.0, 1.0);
}

/// What workers that outnumber the cores may lose by waiting for them, as a share: mean value
/// analysis of a closed queue with exponential costs (Reiser and Lavenberg 1980), many cores as one
/// fast one behind a delay (Seidmann et al. 1987). Costs that vary less lose less.
double share_lost_to_cores(const LawInput& in) {
  if (in.workers < 1 || in.workers + 1 <= in.cores || in.cpu_seconds <= 0) return 0;
  double cycle = in.serve_seconds;
  for (const double seconds : in.live_seconds) cycle += seconds;
  if (in.workers <= in.cores) {
    // Beside a training thread that computes: at worst they take turns.
    const double tau = predicted_seconds_per_sample(in);
    if (in.trainer_seconds < kBusyTrainer * tau) return 0;
    return std::max(0.0, 1 - tau * in.cores / (cycle + in.trainer_seconds));
  }
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

/// How far below and above its value, as shares, the throughput may be at the boundaries that copy
/// and step are read from.
Interval widest_beside_ceiling(const Report& report) {
  Interval widest;
  for (std::size_t k = report.boundaries.size(); k-- > 0;) {
    const Estimate& rate = report.boundaries[k].samples_per_second;
    if (rate.value && rate.interval) {
      widest.low = std::max(widest.low, 1 - rate.interval->low / *rate.value);
      widest.high = std::max(widest.high, rate.interval->high / *rate.value - 1);
    }
    const bool behind = k > 0 && (report.stages[k - 1].category == "copy" ||
                                  report.stages[k - 1].category == "device");
    if (!behind) return widest;
  }
  return widest;
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
  forecast.alone_spread_ = widest_beside_ceiling(report);
  for (const BlockRecord& record : report.blocks) {
    if (!shows_live_costs(record)) continue;
    const auto own = fit_law(report, record.result);
    if (!own) continue;
    forecast.blocks_.push_back(
        {*own, static_cast<double>(record.result.samples) / record.result.seconds});
  }
  if (forecast.blocks_.empty()) return std::nullopt;
  return forecast;
}

Estimate Forecast::after(const LawChanges& changes) const {
  const LawLimit now = limit(law_);
  const LawLimit then = limit(law_, changes);
  // Relative to what was measured live, and absolute: they differ by the law's misfit.
  const double relative = *live_.value * then.samples_per_second / now.samples_per_second;
  const double absolute = then.samples_per_second;
  const bool moved = then.server != now.server || then.stage != now.stage;
  const bool tied = now.margin < kClear && then.margin >= kClear;
  const bool take_absolute = moved && (measured_alone(then) || tied);
  std::vector<double> scaled;
  std::vector<double> plain;
  for (const Block& block : blocks_) {
    plain.push_back(predict(block.law, changes));
    scaled.push_back(block.samples_per_second * plain.back() / predict(block.law));
  }
  Estimate estimate;
  estimate.value = take_absolute ? absolute : relative;
  Interval alone = spread(plain, confidence_, absolute);
  if (measured_alone(then)) {
    alone.low *= 1 - alone_spread_.low;
    alone.high *= 1 + alone_spread_.high;
  }
  Interval interval = hull(spread(scaled, confidence_, relative), alone);
  interval.low *= 1 - kLeastHalfWidth - share_lost_to_ties(then) -
                  share_lost_to_cores(law_input(law_, changes));
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
