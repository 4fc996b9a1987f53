#include "cachebisect/bisect/analysis/straggler.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Rounds in which the same rank is the slowest, as a share of all: below, it certainly changes.
constexpr double kAlways = 0.9;

/// True if this rank has waited for data in more than the least share of the time that is reported,
/// and more than twice as long as every other.
bool is_far_ahead(const BlockResult& block, double least_share) {
  const SlowestRank& slowest = *block.slowest_rank;
  return slowest.starved_seconds > least_share * block.seconds &&
         slowest.next_starved_seconds < kMostOf * slowest.starved_seconds;
}

struct RoundCounts {
  std::size_t rounds = 0;
  std::size_t with_slowest = 0;
  std::map<int, std::size_t> by_rank;
};

RoundCounts count_rounds(const Measurements& measured) {
  RoundCounts counts;
  std::set<std::pair<BlockPhase, int>> seen;
  for (const BlockRecord& record : measured.blocks) {
    if (!record.shows_live() || !record.result.slowest_rank) continue;
    if (!seen.emplace(record.phase, record.round).second) continue;
    ++counts.rounds;
    if (!is_far_ahead(record.result, measured.settings.min_drop)) continue;
    ++counts.with_slowest;
    ++counts.by_rank[record.result.slowest_rank->rank];
  }
  return counts;
}

}  // namespace

std::optional<Straggler> find_straggler(const Measurements& measured) {
  const RoundCounts counts = count_rounds(measured);
  if (counts.by_rank.empty()) return std::nullopt;
  const auto most = std::ranges::max_element(counts.by_rank, {},
                                             [](const auto& of_rank) { return of_rank.second; });
  // Of two one-sided statements each has half of the chance to be wrong.
  const double confidence = measured.settings.confidence;
  const Interval of_rank = clopper_pearson(most->second, counts.rounds, confidence);
  const Interval of_any = clopper_pearson(counts.with_slowest, counts.rounds, confidence);
  const bool is_fixed = of_rank.low > kMostOf;
  const bool moves = !is_fixed && of_any.low > kMostOf && of_rank.high < kAlways;
  if (!is_fixed && !moves) return std::nullopt;
  return Straggler{moves, most->first, static_cast<int>(most->second),
                   static_cast<int>(counts.rounds)};
}

}  // namespace cachebisect
