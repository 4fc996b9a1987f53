#include "cachebisect/bisect/evidence/findings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cachebisect/bisect/record/boundary_levels.hpp"

namespace cachebisect {
namespace {

/// A stage that is slower from the cache than live by more than this is an anomaly.
constexpr double kAnomaly = 0.02;

/// The log drop below which a part is an anomaly: more than 2% plus the cost of serving from the
/// cache.
double anomaly_theta(const Part& part, const RoundTable& rounds, const FindingsOptions& options) {
  double serving = 0;
  const auto k = static_cast<std::size_t>(part.to);
  if (k < options.serve_seconds.size()) {
    const double tau = rounds.tau(part.to);
    serving = options.serve_seconds[k] / std::max(1, options.workers) / std::max(tau, 1e-12);
  }
  return -std::log1p(kAnomaly) + std::log1p(-std::clamp(serving, 0.0, 0.99));
}

Finding find(const Part& part, PartEvidence& all, const FindingsOptions& options) {
  const ConfidenceSequence& evidence = all.pair(part);
  const RoundTable& rounds = all.rounds();
  Finding finding;
  finding.part = part;
  finding.rounds = evidence.rounds();
  finding.low = -std::numeric_limits<double>::infinity();
  finding.drop = 1 - rounds.tau(part.to) / rounds.tau(part.from);
  finding.median_drop = finding.drop;
  if (finding.rounds == 0) return finding;
  finding.median_drop = theta_to_drop(evidence.centre());
  finding.scale = evidence.scale();
  const Interval thetas = evidence.interval();
  if (std::isfinite(thetas.low)) {
    finding.low = std::min(theta_to_drop(thetas.low), finding.median_drop - kMinHalfWidth);
  }
  if (std::isfinite(thetas.high)) {
    finding.high = std::max(theta_to_drop(thetas.high), finding.median_drop + kMinHalfWidth);
  }
  const double slower = evidence.evidence_below(anomaly_theta(part, rounds, options));
  finding.slower_cached = slower >= evidence.threshold();
  finding.maybe_slower_cached = slower >= std::sqrt(evidence.threshold());
  finding.bursty = finding.drop < finding.low || finding.drop > finding.high ||
                   (finding.drop > finding.median_drop + kMinHalfWidth &&
                    all.cover(part).rejects_at_least(bounded_theta(finding.drop)));
  finding.low = std::min(finding.low, finding.drop);
  finding.high = std::max(finding.high, finding.drop);
  return finding;
}

/// What a boundary shows is useful once its error is at most this share of the whole loss.
constexpr double kUsefulError = 0.4;
/// Standard error of the median of n values = this x median deviation / sqrt(n).
constexpr double kErrorOfMedian = 1.86;
constexpr std::size_t kRoundsToKnowNoise = 4;
constexpr double kMaxVisits = 12;

int min_visits(const Finding& whole, double min_drop) {
  if (whole.rounds < kRoundsToKnowNoise) return 1;
  const double loss = std::max(drop_to_theta(min_drop), bounded_theta(whole.median_drop));
  const double ratio = kErrorOfMedian * whole.scale / (kUsefulError * loss);
  return static_cast<int>(std::clamp(std::ceil(ratio * ratio), 1.0, kMaxVisits));
}

/// A mean that lies this many standard errors above the centre is not explained by symmetric noise.
constexpr double kErrorsOfMean = 2;

/// For a noisy machine: there, a few slow blocks can shift a mean, and two boundaries that were
/// measured in different rounds can show a drop that does not exist.
double seeming_in_noise(const Finding& finding, const RoundTable& rounds) {
  const Part& part = finding.part;
  if (finding.rounds == 0) {
    const auto levels = boundary_levels(rounds);
    const auto level = [&](int k) { return levels.at(static_cast<std::size_t>(k)).value_or(0); };
    return theta_to_drop(level(part.from) - level(part.to));
  }
  const double centre = bounded_theta(finding.median_drop);
  const double excess = excess_of_mean(rounds, part.from, part.to, centre);
  return excess < kErrorsOfMean ? finding.median_drop : std::max(finding.drop, finding.median_drop);
}

/// The machine stalls, not a stage, if the ceiling's mean exceeds its median by at least this share
/// of what live's mean does.
constexpr double kStallsAlike = 0.5;

double mean_above_centre(const std::vector<double>& taus) { return mean(taus) / median(taus) - 1; }

double squared_error(const std::vector<double>& taus) {
  const double cv = coefficient_of_variation(taus);
  return cv * cv / static_cast<double>(taus.size());
}

double max_mean_loss(const Findings& findings, const RoundTable& rounds) {
  const std::vector<double> live = rounds.all_block_taus(0);
  const std::vector<double> ceiling = rounds.all_block_taus(rounds.last());
  const bool machine_stalls = mean_above_centre(ceiling) >= kStallsAlike * mean_above_centre(live);
  if (findings.min_visits > 1 || machine_stalls) return findings.whole.median_drop;
  if (live.size() < 2) return 1;
  const double error = std::sqrt(squared_error(live) + squared_error(ceiling));
  return 1 - mean(ceiling) / mean(live) * std::exp(-kErrorsOfMean * error);
}

/// The part with the largest median drop among those certified above min_drop.
std::optional<std::size_t> find_leader(const std::vector<Finding>& parts, double min_drop) {
  std::optional<std::size_t> leader;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].low <= min_drop) continue;
    if (!leader || parts[i].median_drop > parts[*leader].median_drop) leader = i;
  }
  return leader;
}

}  // namespace

std::optional<Interval> Finding::interval() const {
  if (!std::isfinite(low) || high >= 1) return std::nullopt;
  return Interval{low, high};
}

double Finding::error() const {
  return rounds == 0 ? 0 : kErrorOfMedian * scale / std::sqrt(static_cast<double>(rounds));
}

Findings assess(PartEvidence& evidence, const FindingsOptions& options) {
  Findings findings;
  findings.whole = find(evidence.whole(), evidence, options);
  findings.live_seconds = evidence.rounds().seconds(0);
  findings.min_visits = min_visits(findings.whole, options.min_drop);
  findings.max_mean_loss = max_mean_loss(findings, evidence.rounds());
  const std::vector<int> boundaries = visited_boundaries(evidence.rounds(), findings.min_visits);
  for (std::size_t i = 1; i < boundaries.size(); ++i) {
    Finding part = find({boundaries[i - 1], boundaries[i]}, evidence, options);
    part.seeming_drop = findings.min_visits > 1 ? seeming_in_noise(part, evidence.rounds())
                                                : std::max(part.drop, part.median_drop);
    findings.parts.push_back(part);
  }
  findings.leader = find_leader(findings.parts, options.min_drop);
  findings.bar = options.min_drop;
  if (findings.leader) findings.bar = std::max(findings.bar, findings.parts[*findings.leader].low);
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    Finding& part = findings.parts[i];
    if (i == findings.leader) continue;
    part.excluded = part.seeming_drop < findings.bar &&
                    evidence.cover(part.part).rejects_at_least(drop_to_theta(findings.bar));
    if (findings.leader && !part.excluded) findings.rivals.push_back(i);
  }
  return findings;
}

}  // namespace cachebisect
