#include "cachebisect/bisect/evidence/findings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cachebisect/bisect/evidence/stall_evidence.hpp"
#include "cachebisect/bisect/evidence/stalls.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/bisect/record/boundary_levels.hpp"

namespace cachebisect {
namespace {

/// The log drop below which a part is an anomaly: more than 2% plus the cost of serving from the
/// cache.
double anomaly_theta(const Part& part, const RoundTable& rounds, const FindingsOptions& options) {
  double serving = 0;
  const auto k = static_cast<std::size_t>(part.to);
  if (k < options.serve_seconds.size()) {
    const double tau = rounds.tau(part.to);
    serving = options.serve_seconds[k] / std::max(1, options.workers) / std::max(tau, 1e-12);
  }
  return -std::log1p(kNegligible) + std::log1p(-std::clamp(serving, 0.0, 0.99));
}

/// A mean that lies this many standard errors above the centre is not explained by symmetric noise.
constexpr double kErrorsOfMean = 2;

bool mean_is_larger(const Finding& finding) {
  return finding.drop > finding.median_drop + kMinHalfWidth;
}

/// True if the mean stands out of the noise above the centre.
bool mean_stands_out(const Finding& finding, const RoundTable& rounds) {
  const auto [from, to] = finding.part;
  return excess_of_mean(rounds, from, to, bounded_theta(finding.median_drop)) >= kErrorsOfMean;
}

/// True if stalls alone would be worth looking for.
bool loses_in_stalls(const Finding& whole, const RoundTable& rounds, double min_drop) {
  return whole.rounds > 0 && whole.drop - whole.median_drop > kOpenAbove * min_drop &&
         mean_stands_out(whole, rounds);
}

/// The mean drop may be larger than it seems, if stalls are so rare that few have happened.
void widen_for_stalls(Finding& finding, const RoundTable& rounds, double confidence) {
  if (!mean_is_larger(finding)) return;
  const Part& part = finding.part;
  if (!finding.bursty && !mean_stands_out(finding, rounds)) return;
  const double limit = stalled_mean_limit(rounds.all_block_taus(part.from), confidence);
  finding.high = std::max(finding.high, 1 - (1 - finding.drop) / limit);
}

/// The mean must be slower from the cache too: right after a stall, blocks are faster than usual.
void find_anomaly(Finding& finding, const ConfidenceSequence& evidence, double theta) {
  if (finding.drop >= theta_to_drop(theta)) return;
  const double slower = evidence.evidence_below(theta);
  // An anomaly takes the verdict from every drop.
  finding.slower_cached = slower >= evidence.threshold() / (1 - kMainShare);
  finding.maybe_slower_cached = slower >= std::sqrt(evidence.threshold());
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
  finding.not_stationary = thetas.low > thetas.high;
  if (finding.not_stationary) return finding;
  if (std::isfinite(thetas.low)) {
    finding.low = std::min(theta_to_drop(thetas.low), finding.median_drop - kMinHalfWidth);
  }
  if (std::isfinite(thetas.high)) {
    finding.high = std::max(theta_to_drop(thetas.high), finding.median_drop + kMinHalfWidth);
  }
  find_anomaly(finding, evidence, anomaly_theta(part, rounds, options));
  finding.bursty =
      finding.drop < finding.low || finding.drop > finding.high ||
      (mean_is_larger(finding) && all.cover(part).rejects_at_least(bounded_theta(finding.drop)));
  finding.low = std::min(finding.low, finding.drop);
  finding.high = std::max(finding.high, finding.drop);
  widen_for_stalls(finding, rounds, options.confidence);
  return finding;
}

/// What a boundary shows is useful once its error is at most this share of the whole loss.
constexpr double kUsefulError = 0.4;
/// Standard error of the median of n normal values, sqrt(pi / 2) of their standard deviation, =
/// this x median deviation / sqrt(n).
constexpr double kErrorOfMedian = 1.2533 * kSigmaOverMedianDeviation;

int min_visits(const Finding& whole, double min_drop) {
  if (whole.rounds <= kUsualRepeats) return 1;
  if (whole.by_mean) return kRoundsToSpread;
  const double loss = std::max(drop_to_theta(min_drop), bounded_theta(whole.median_drop));
  const double ratio = kErrorOfMedian * whole.scale / (kUsefulError * loss);
  return static_cast<int>(std::clamp<double>(std::ceil(ratio * ratio), 1, kRoundsToSpread));
}

/// For a noisy machine: there, a few slow blocks can shift a mean, and two boundaries that were
/// measured in different rounds can show a drop that does not exist.
double seeming_in_noise(const Finding& finding, const RoundTable& rounds) {
  const Part& part = finding.part;
  if (finding.rounds == 0) {
    const auto levels = boundary_levels(rounds);
    const auto level = [&](int k) { return levels.at(static_cast<std::size_t>(k)).value_or(0); };
    return theta_to_drop(level(part.from) - level(part.to));
  }
  return mean_stands_out(finding, rounds) ? std::max(finding.drop, finding.median_drop)
                                          : finding.median_drop;
}

double mean_above_centre(const std::vector<double>& taus) { return mean(taus) / median(taus) - 1; }

double squared_error(const std::vector<double>& taus) {
  const double cv = coefficient_of_variation(taus);
  return cv * cv / static_cast<double>(taus.size());
}

void bound_mean_loss(Findings& findings, const RoundTable& rounds) {
  const std::vector<double> live = rounds.all_block_taus(0);
  const std::vector<double> ceiling = rounds.all_block_taus(rounds.last());
  const double error = std::sqrt(squared_error(live) + squared_error(ceiling));
  findings.mean_bound =
      live.size() < 2 ? 1 : 1 - mean(ceiling) / mean(live) * std::exp(-kErrorsOfMean * error);
  const bool machine_stalls = mean_above_centre(ceiling) >= kMostOf * mean_above_centre(live);
  findings.max_mean_loss = machine_stalls ? findings.whole.median_drop : findings.mean_bound;
}

/// A part that loses its time in stalls that most rounds do not meet: certified if they are so many
/// and so one-sided that its mean is above the bar.
void certify_by_mean(Finding& part, const RoundTable& rounds, double min_drop, double alpha) {
  if (part.rounds == 0 || part.not_stationary || part.low > min_drop ||
      part.drop <= part.median_drop)
    return;
  const double needed = -std::log(alpha);
  const auto evidence = [&](double drop) {
    return log_stall_evidence(rounds, part.part.from, part.part.to, drop_to_theta(drop));
  };
  const double found = evidence(min_drop);
  if (found < needed) {
    part.rounds_to_certify_stalls =
        rounds_to_stall_evidence(found, needed, static_cast<double>(part.rounds));
    return;
  }
  double low = min_drop;
  double high = std::min(part.drop, 0.999);
  for (int i = 0; i < 20; ++i) {
    const double middle = (low + high) / 2;
    (evidence(middle) >= needed ? low : high) = middle;
  }
  part.stalls = true;
  part.low = low;
  part.high = std::max(part.high, std::min(0.999, 2 * part.drop - low));
}

/// Mean seconds per sample that a part costs, in units of the ceiling's.
double mean_seconds(const Part& part, const RoundTable& rounds) {
  return (rounds.tau(part.from) - rounds.tau(part.to)) / rounds.tau(rounds.last());
}

/// The same of all parts: of the medians, or of the means where these seem to be larger, because
/// training pays the mean.
void set_seconds(std::vector<Finding>& parts, const RoundTable& rounds) {
  const auto levels = boundary_levels(rounds);
  const auto median_tau = [&](int k) {
    return std::exp(levels.at(static_cast<std::size_t>(k)).value_or(0));
  };
  for (Finding& finding : parts) {
    const auto [from, to] = finding.part;
    finding.by_mean =
        finding.rounds > 0 &&
        (finding.stalls || finding.seeming_drop > finding.median_drop + kMinHalfWidth);
    finding.seconds =
        finding.by_mean ? mean_seconds(finding.part, rounds) : median_tau(from) - median_tau(to);
  }
}

/// The part that costs most seconds among those certified above min_drop.
std::optional<std::size_t> find_leader(const std::vector<Finding>& parts, double min_drop) {
  std::optional<std::size_t> leader;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].low <= min_drop) continue;
    if (!leader || parts[i].seconds > parts[*leader].seconds) leader = i;
  }
  return leader;
}

/// The part that costs most by its mean, if that is more than the leader does: one stall may be the
/// first of many. Where it is not the mean alone, by so much more that noise is no reason.
std::optional<std::size_t> find_challenger(const Findings& findings, const RoundTable& rounds,
                                           double min_drop) {
  const double leading = findings.parts[*findings.leader].seconds;
  double most = leading;
  std::optional<std::size_t> challenger;
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    const Finding& part = findings.parts[i];
    if (part.rounds == 0 || part.low > min_drop) continue;
    const double seconds = mean_seconds(part.part, rounds);
    if (seconds <= most || (!mean_is_larger(part) && leading > kOpenAbove * seconds)) continue;
    most = seconds;
    challenger = i;
  }
  return challenger;
}

/// The drop at which a part costs as many seconds as the leader with `leading`, and at least
/// `min_drop`.
double equal_drop(const Finding& part, const Finding& leader, double leading,
                  const RoundTable& rounds, double min_drop) {
  const double slower_from = rounds.tau(leader.part.from) / rounds.tau(part.part.from);
  return std::clamp(leading * slower_from, min_drop, 0.999);
}

void add_rival(Findings& findings, std::size_t part, const RoundTable& rounds, double min_drop) {
  const Finding& leader = findings.parts[*findings.leader];
  Finding& rival = findings.parts[part];
  const double equal = equal_drop(rival, leader, leader.median_drop, rounds, min_drop);
  rival.distance = std::abs(drop_to_theta(equal) - bounded_theta(rival.seeming_drop));
  findings.rivals.push_back(part);
}

/// Ends of the parts.
std::vector<int> ends_of_parts(const Findings& findings, const RoundTable& rounds,
                               const FindingsOptions& options) {
  std::vector<int> ends = visited_boundaries(rounds, findings.min_visits);
  std::erase_if(ends, [&](int k) {
    return std::find(options.distorted.begin(), options.distorted.end(), k) !=
           options.distorted.end();
  });
  return ends;
}

/// A part is excluded below the bar: what the leader costs at its least.
void exclude_parts(Findings& findings, PartEvidence& evidence, double min_drop) {
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    Finding& part = findings.parts[i];
    if (i == findings.leader) continue;
    double bar = min_drop;
    if (findings.leader) {
      const Finding& leader = findings.parts[*findings.leader];
      bar = equal_drop(part, leader, leader.low, evidence.rounds(), min_drop);
    }
    const ConfidenceSequence& cover = evidence.cover(part.part);
    const double against = cover.evidence_below(drop_to_theta(bar));
    part.excluded = part.seeming_drop < bar && against >= cover.threshold();
    part.missing = std::max(0.0, std::log(cover.threshold() / against));
    if (findings.leader && !part.excluded) add_rival(findings, i, evidence.rounds(), min_drop);
  }
}

}  // namespace

std::optional<Interval> Finding::interval() const {
  if (!std::isfinite(low) || high >= 1) return std::nullopt;
  return Interval{low, high};
}

double Finding::error() const {
  return rounds == 0 ? 0 : kErrorOfMedian * scale / std::sqrt(static_cast<double>(rounds));
}

bool Findings::lose_in_stalls() const { return whole.by_mean || (leader && parts[*leader].stalls); }

Findings assess(PartEvidence& evidence, const FindingsOptions& options) {
  Findings findings;
  findings.whole = find(evidence.whole(), evidence, options);
  findings.whole.by_mean = loses_in_stalls(findings.whole, evidence.rounds(), options.min_drop);
  findings.live_seconds = evidence.rounds().seconds(0);
  findings.min_visits = min_visits(findings.whole, options.min_drop);
  bound_mean_loss(findings, evidence.rounds());
  const std::vector<int> ends = ends_of_parts(findings, evidence.rounds(), options);
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const Part place{ends[i - 1], ends[i]};
    Finding part = find(place, evidence, options);
    part.seeming_drop = findings.min_visits > 1 ? seeming_in_noise(part, evidence.rounds())
                                                : std::max(part.drop, part.median_drop);
    // The other half of its share is spent by the centre.
    certify_by_mean(part, evidence.rounds(), options.min_drop,
                    (1 - options.confidence) * evidence.weight(place) / 2);
    findings.parts.push_back(part);
  }
  set_seconds(findings.parts, evidence.rounds());
  findings.leader = find_leader(findings.parts, options.min_drop);
  if (findings.leader)
    findings.challenger = find_challenger(findings, evidence.rounds(), options.min_drop);
  exclude_parts(findings, evidence, options.min_drop);
  return findings;
}

}  // namespace cachebisect
