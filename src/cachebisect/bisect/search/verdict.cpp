#include "cachebisect/bisect/search/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// Live is watched so long before it is called free of stalls: twenty of the shortest blocks.
constexpr double kLiveSeconds = 0.8;
/// Of the leader's drop.
constexpr double kSpanToOpen = 0.6;

std::optional<Decision> find_anomaly(const Findings& findings) {
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    if (!findings.parts[i].slower_cached) continue;
    if (!worst || findings.parts[i].median_drop < findings.parts[*worst].median_drop) worst = i;
  }
  if (!worst && !findings.whole.slower_cached) return std::nullopt;
  return Decision{VerdictKind::anomaly, true, worst};
}

/// A rival that could still be opened and seems to lose about as much as the leader: whatever stage
/// is in it may be the one to name.
bool span_may_hold_more(const Findings& findings, const Plan& plan) {
  const double leading = findings.parts[*findings.leader].median_drop;
  return std::any_of(findings.rivals.begin(), findings.rivals.end(), [&](std::size_t rival) {
    const Finding& part = findings.parts[rival];
    return plan.can_open(part.part) && part.seeming_drop > kSpanToOpen * leading;
  });
}

}  // namespace

Decision decide(const Findings& findings, const Plan& plan, double min_drop) {
  if (const auto anomaly = find_anomaly(findings)) return *anomaly;
  // An anomaly on its way comes first: it needs more rounds, as its share of the error is small.
  const bool unsure = std::any_of(findings.parts.begin(), findings.parts.end(),
                                  [](const Finding& part) { return part.maybe_slower_cached; });
  if (findings.leader && !plan.can_open(findings.parts[*findings.leader].part) &&
      !span_may_hold_more(findings, plan)) {
    return {VerdictKind::drop, findings.rivals.empty() && !unsure, findings.leader};
  }
  const bool all_small = std::all_of(findings.parts.begin(), findings.parts.end(),
                                     [](const Finding& part) { return part.excluded; });
  if (findings.whole.low > min_drop && all_small) {
    return {VerdictKind::spread, !unsure, std::nullopt};
  }
  const bool stalls_excluded =
      findings.live_seconds >= kLiveSeconds && findings.highest_mean_loss < min_drop;
  if (findings.whole.high < min_drop && !findings.whole.bursty && stalls_excluded) {
    return {VerdictKind::flat, !unsure, std::nullopt};
  }
  return {};
}

std::vector<std::size_t> half_of_loss(const Findings& findings) {
  std::vector<std::size_t> order(findings.parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return findings.parts[a].drop > findings.parts[b].drop;
  });
  // Shares of the loss in log throughput, where drops add up.
  const double goal = 0.5 * drop_to_theta(std::min(findings.whole.drop, 0.999999));
  double held = 0;
  std::size_t count = 0;
  while (count < order.size() && held < goal) {
    held += drop_to_theta(std::min(findings.parts[order[count]].drop, 0.999999));
    ++count;
  }
  order.resize(count);
  return order;
}

namespace {

constexpr double kBestFactor = 1.98;
constexpr double kSignWeight = 0.35;
constexpr double kStakeWeight = 0.13;
/// Growth of the log of the e-process a round is about this times (distance / sigma)^2.
constexpr double kGrowth = 0.38;

}  // namespace

int Power::least_rounds() const {
  return static_cast<int>(
      std::ceil(std::log(2 / (alpha * weight) / kSignWeight) / std::log(kBestFactor)));
}

int Power::rounds_for(double distance) const {
  constexpr double kMost = 1e6;
  const double ratio = sigma / std::max(std::abs(distance), 1e-9);
  const double nats = std::log(2 / (alpha * weight) / kStakeWeight) + 1;
  const double rounds = nats * ratio * ratio / kGrowth;
  return std::max(least_rounds() + 1, static_cast<int>(std::min(rounds, kMost)));
}

std::optional<double> Power::distance_in(double rounds) const {
  const double least = least_rounds();
  if (rounds < least) return std::nullopt;
  const double nats = std::log(2 / (alpha * weight) / kStakeWeight) + 1;
  // Close to the least, every round must win: the drop must stand clear of the noise.
  const double clear = 1 + (least / rounds) * (least / rounds);
  return sigma * std::sqrt(nats / (kGrowth * rounds)) * clear;
}

}  // namespace cachebisect
