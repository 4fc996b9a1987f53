#include "cachebisect/bisect/phases/rank_payoff.hpp"

#include <algorithm>

#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/phases/explain_columns.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

constexpr int kMaxRanks = 16;

}  // namespace

std::vector<Arm> rank_arms(int ranks, int stages) {
  std::vector<Arm> arms;
  if (ranks < 2) return arms;
  for (int rank = 0; rank < std::min(ranks, kMaxRanks); ++rank) {
    arms.push_back({.boundary = stages, .rank = rank});
  }
  return arms;
}

std::optional<int> slow_rank(const RoundTable& rounds, double alpha) {
  std::optional<int> slowest;
  if (rounds.last() < kCeiling) return slowest;
  double most = kMostOf * log_ratio(rounds, kLive, kCeiling, alpha).value;
  for (int arm = kCeiling + 1; arm <= rounds.last(); ++arm) {
    const int rank = rounds.arms()[static_cast<std::size_t>(arm)].rank;
    if (rank == kAllRanks) continue;
    const LogRatio gain = log_ratio(rounds, kLive, arm, alpha);
    if (gain.value <= most || !gain.interval || gain.interval->low <= 0) continue;
    slowest = rank;
    most = gain.value;
  }
  return slowest;
}

}  // namespace cachebisect
