#include "cachebisect/bisect/evidence/decision.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {

const char* to_string(VerdictKind kind) noexcept {
  switch (kind) {
    case VerdictKind::anomaly:
      return "anomaly";
    case VerdictKind::drop:
      return "drop";
    case VerdictKind::spread:
      return "spread";
    case VerdictKind::flat:
      return "flat";
    case VerdictKind::inconclusive:
      return "inconclusive";
  }
  return "unknown";
}

namespace {

/// Live must be measured for this long before it counts as free of stalls: twenty of the shortest
/// blocks.
constexpr double kLiveSeconds = 0.8;

/// True if a slow cache may be why the leader seems to lose: they share a boundary, or the leader
/// would not be above the bar if serving its input cost as much. Without a leader it always may.
bool may_explain_leader(const Findings& findings, const Finding& slow, double min_drop) {
  if (!findings.leader) return true;
  const Finding& leader = findings.parts[*findings.leader];
  if (slow.part.from <= leader.part.to && leader.part.from <= slow.part.to) return true;
  const double live_seconds = leader.seconds / (leader.by_mean ? leader.drop : leader.median_drop);
  return (leader.low - min_drop) * live_seconds <= std::abs(slow.seconds);
}

std::optional<Decision> find_anomaly(const Findings& findings, double min_drop) {
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    const Finding& part = findings.parts[i];
    if (!part.slower_cached || !may_explain_leader(findings, part, min_drop)) continue;
    if (!worst || findings.parts[i].median_drop < findings.parts[*worst].median_drop) worst = i;
  }
  if (!worst && !findings.whole.slower_cached) return std::nullopt;
  return Decision{VerdictKind::anomaly, true, false, worst};
}

/// True if a rival can still be opened and seems to lose about as much as the leader: one of its
/// stages may be the one to name.
bool span_may_hold_more(const Findings& findings, const std::vector<int>& candidates) {
  const double leading = findings.parts[*findings.leader].seconds;
  return std::any_of(findings.rivals.begin(), findings.rivals.end(), [&](std::size_t rival) {
    const Finding& part = findings.parts[rival];
    return can_open(part.part, candidates) && part.seconds > kOpenAbove * leading;
  });
}

}  // namespace

bool can_open(const Part& part, const std::vector<int>& candidates) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](int k) { return k > part.from && k < part.to; });
}

Decision decide(const Findings& findings, const std::vector<int>& candidates, double min_drop) {
  if (const auto anomaly = find_anomaly(findings, min_drop)) return *anomaly;
  // A possible anomaly is worth waiting for: its small share of the error demands more rounds.
  const bool unsure = std::any_of(findings.parts.begin(), findings.parts.end(),
                                  [](const Finding& part) { return part.maybe_slower_cached; });
  if (findings.challenger) return {};
  if (findings.leader && !can_open(findings.parts[*findings.leader].part, candidates) &&
      !span_may_hold_more(findings, candidates)) {
    const bool tied = !findings.rivals.empty();
    return {VerdictKind::drop, !tied && !unsure, tied && !unsure, findings.leader};
  }
  const bool all_small = std::all_of(findings.parts.begin(), findings.parts.end(),
                                     [](const Finding& part) { return part.excluded; });
  if (findings.whole.low > min_drop && all_small) {
    return {VerdictKind::spread, !unsure, false, std::nullopt};
  }
  const bool stalls_excluded =
      findings.live_seconds >= kLiveSeconds && findings.max_mean_loss < min_drop;
  if (findings.whole.high < min_drop && stalls_excluded) {
    return {VerdictKind::flat, !unsure, false, std::nullopt};
  }
  return {};
}

void hold_mean(const Decision& decision, double min_drop, Findings& findings) {
  if (decision.kind != VerdictKind::inconclusive || findings.whole.high >= min_drop) return;
  findings.whole.high = std::max(findings.whole.high, findings.mean_bound);
}

std::vector<std::size_t> half_of_loss(const Findings& findings) {
  std::vector<std::size_t> order(findings.parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return findings.parts[a].drop > findings.parts[b].drop;
  });
  // Shares of the loss in log throughput, where drops add up.
  const double goal = 0.5 * bounded_theta(findings.whole.drop);
  double held = 0;
  std::size_t count = 0;
  while (count < order.size() && held < goal) {
    held += bounded_theta(findings.parts[order[count]].drop);
    ++count;
  }
  order.resize(count);
  return order;
}

}  // namespace cachebisect
