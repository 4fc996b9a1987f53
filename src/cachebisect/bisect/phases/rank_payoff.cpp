#include "cachebisect/bisect/phases/rank_payoff.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/costs/predicted_fix_first.hpp"
#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/phases/explain_columns.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Parts that are tried in the same rounds.
constexpr int kMaxParts = 16;

/// Neighbours together, so that kMaxParts are left at most.
std::vector<RankRange> gathered(const std::vector<RankRange>& units) {
  const std::size_t size = (units.size() + kMaxParts - 1) / kMaxParts;
  std::vector<RankRange> parts;
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (u % size == 0) {
      parts.push_back(units[u]);
    } else {
      parts.back().count += units[u].count;
    }
  }
  return parts;
}

std::vector<RankRange> ranks_in(const RankRange& whole) {
  std::vector<RankRange> ranks;
  for (int rank = whole.first; rank < whole.end(); ++rank) ranks.push_back({rank, 1});
  return ranks;
}

std::vector<RankRange> nodes_in(const ChainDescription& chain, const RankRange& whole) {
  std::vector<RankRange> nodes;
  for (const NodeDescription& node : chain.nodes) {
    if (whole.holds(node.ranks.first)) nodes.push_back(node.ranks);
  }
  return nodes;
}

struct Gain {
  RankRange ranks;
  int arm = 0;
  double value = 0;  ///< log ratio to live
};

/// Share of the time of a step that a log ratio to live wins back.
double time_won(double gain) { return -std::expm1(-gain); }

/// The part that gains most among those that win back more than `least` of the time of a step;
/// `within`: of these ranks.
std::optional<Gain> best_part(const RoundTable& rounds, double alpha, const RankRange& within,
                              double least) {
  std::optional<Gain> best;
  for (int arm = kCeiling + 1; arm <= rounds.last(); ++arm) {
    const RankRange& ranks = rounds.arms()[static_cast<std::size_t>(arm)].ranks;
    const bool inside = within.holds(ranks.first) && ranks != within;
    if (ranks.is_all() || !inside || (!within.is_all() && ranks.count >= within.count)) continue;
    const LogRatio gain = log_ratio(rounds, kLive, arm, alpha);
    if (time_won(gain.value) <= least || !gain.interval || gain.interval->low <= 0) continue;
    if (!best || gain.value > best->value) best = Gain{ranks, arm, gain.value};
  }
  return best;
}

}  // namespace

std::vector<RankRange> parts_of_ranks(const ChainDescription& chain, const RankRange& whole) {
  const RankRange range = whole.is_all() ? RankRange{0, chain.ranks} : whole;
  const std::vector<RankRange> nodes = nodes_in(chain, range);
  if (nodes.size() > 1) return gathered(nodes);
  return range.count > 1 ? gathered(ranks_in(range)) : std::vector<RankRange>{};
}

std::vector<Arm> rank_arms(const ChainDescription& chain, const RankRange& whole) {
  const int last = static_cast<int>(chain.stages.size());
  std::vector<Arm> arms;
  for (const RankRange& part : parts_of_ranks(chain, whole)) {
    arms.push_back({.boundary = last, .ranks = part});
  }
  return arms;
}

std::optional<RankRange> slow_ranks(const RoundTable& rounds, double alpha) {
  if (rounds.last() < kCeiling) return std::nullopt;
  const double lost = time_won(log_ratio(rounds, kLive, kCeiling, alpha).value);
  std::optional<Gain> found;
  for (;;) {
    const auto part = best_part(rounds, alpha, found ? found->ranks : RankRange{}, kMostOf * lost);
    if (!part) break;
    if (found) {
      // Several slow ranks of a node are the node's.
      const LogRatio lead = log_ratio(rounds, part->arm, found->arm, alpha);
      if (lead.interval && lead.interval->low > std::log(kReportLeadAboveRatio)) break;
    }
    found = part;
  }
  return found ? std::optional(found->ranks) : std::nullopt;
}

}  // namespace cachebisect
