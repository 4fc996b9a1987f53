#include "cachebisect/bisect/evidence/findings.hpp"

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
  return -std::log1p(kAnomaly) + std::log1p(-std::clamp(serving, 0.0, 0.99));
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
  finding.bursty =
      finding.drop < finding.low || finding.drop > finding.high ||
      (finding.drop > finding.median_drop + kLeastHalfWidth &&
       ledger.cover(part).rejects_at_least(drop_to_theta(std::min(finding.drop, 0.999999))));
  finding.low = std::min(finding.low, finding.drop);
  finding.high = std::max(finding.high, finding.drop);
  return finding;
}

/// The largest median among those certified above min_drop.
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

Findings look(Ledger& ledger, const FindingsOptions& options) {
  Findings findings;
  findings.whole = find(ledger.whole(), ledger, options);
  const std::vector<int> boundaries = ledger.rounds().visited_boundaries();
  for (std::size_t i = 1; i < boundaries.size(); ++i) {
    findings.parts.push_back(find({boundaries[i - 1], boundaries[i]}, ledger, options));
  }
  findings.leader = find_leader(findings.parts, options.min_drop);
  findings.bar = options.min_drop;
  if (findings.leader) findings.bar = std::max(findings.bar, findings.parts[*findings.leader].low);
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    Finding& part = findings.parts[i];
    if (i == findings.leader) continue;
    part.excluded = part.drop < findings.bar && part.median_drop < findings.bar &&
                    ledger.cover(part.part).rejects_at_least(drop_to_theta(findings.bar));
    if (findings.leader && !part.excluded) findings.rivals.push_back(i);
  }
  return findings;
}

}  // namespace cachebisect
