#include "cachebisect/bisect/findings.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect {
namespace {

/// A cached stage slower than the live one by more than this is an anomaly.
constexpr double kAnomaly = 0.02;

/// The log drop below which a part is anomalous: beyond 2%, and beyond what serving from the cache
/// itself costs.
double anomaly_theta(const Part& part, const RoundTable& rounds, const FindingsOptions& options) {
  double serving = 0;
  const auto k = static_cast<std::size_t>(part.to);
  if (k < options.serve_seconds.size()) {
    const double tau = rounds.tau(part.to);
    serving = options.serve_seconds[k] / std::max(1, options.workers) / std::max(tau, 1e-12);
  }
  return -std::log1p(kAnomaly) + std::log1p(-std::clamp(serving, 0.0, 0.5));
}

Finding find(const Part& part, Ledger& ledger, const FindingsOptions& options) {
  const Evidence& evidence = ledger.pair(part);
  const RoundTable& rounds = ledger.rounds();
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
    finding.low = std::min(theta_to_drop(thetas.low), finding.median_drop - kLeastHalfWidth);
  }
  if (std::isfinite(thetas.high)) {
    finding.high = std::max(theta_to_drop(thetas.high), finding.median_drop + kLeastHalfWidth);
  }
  const double slower = evidence.evidence_below(anomaly_theta(part, rounds, options));
  finding.slower_cached = slower >= evidence.threshold();
  finding.maybe_slower_cached = slower >= std::sqrt(evidence.threshold());
  finding.bursty = finding.drop < finding.low || finding.drop > finding.high;
  finding.low = std::min(finding.low, finding.drop);
  finding.high = std::max(finding.high, finding.drop);
  return finding;
}

/// Several stages that together lose less than the leader hold no rival: one test for all of them.
bool excluded_together(const Finding& finding, const Finding& leader, Ledger& ledger) {
  if (finding.bursty || finding.median_drop >= leader.low) return false;
  const bool before = finding.part.to <= leader.part.from;
  const Part side =
      before ? Part{0, leader.part.from} : Part{leader.part.to, ledger.rounds().stages()};
  return ledger.pair(side).rejects_at_least(drop_to_theta(leader.low));
}

}  // namespace

std::optional<Interval> Finding::interval() const {
  if (!std::isfinite(low) || high >= 1) return std::nullopt;
  return Interval{low, high};
}

Findings look(Ledger& ledger, const FindingsOptions& options) {
  Findings findings;
  findings.whole = find(ledger.whole(), ledger, options);
  const std::vector<int> boundaries = ledger.rounds().visited_boundaries();
  for (std::size_t i = 1; i < boundaries.size(); ++i) {
    findings.parts.push_back(find({boundaries[i - 1], boundaries[i]}, ledger, options));
  }
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    const Finding& part = findings.parts[i];
    if (part.low <= options.min_drop) continue;
    if (!findings.leader || part.median_drop > findings.parts[*findings.leader].median_drop) {
      findings.leader = i;
    }
  }
  if (!findings.leader) return findings;
  const Finding& leader = findings.parts[*findings.leader];
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    const Finding& part = findings.parts[i];
    if (i == *findings.leader || part.high < leader.low) continue;
    if (!excluded_together(part, leader, ledger)) findings.rivals.push_back(i);
  }
  return findings;
}

}  // namespace cachebisect
