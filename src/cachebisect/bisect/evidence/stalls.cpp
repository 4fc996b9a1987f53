#include "cachebisect/bisect/evidence/stalls.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// A block is a stall if it lies above the median by this share of it, and by kCertain standard
/// deviations, as the median deviation tells them.
constexpr double kShare = 0.1;
/// With so many trials a binomial interval is that of a Poisson rate.
constexpr std::size_t kManyTrials = 100000;

double total_seconds(std::span<const Watch> watched) {
  return std::transform_reduce(watched.begin(), watched.end(), 0.0, std::plus{},
                               [](const Watch& watch) { return watch.seconds; });
}

std::vector<double> taus_of(std::span<const Watch> watched) {
  std::vector<double> taus;
  taus.reserve(watched.size());
  for (const Watch& watch : watched) taus.push_back(watch.seconds / watch.samples);
  return taus;
}

/// Seconds above the median of those times that are stalls.
struct Excess {
  double sum = 0;
  double squares = 0;

  void add(std::span<const Watch> watched) {
    const std::vector<double> taus = taus_of(watched);
    const double centre = median(taus);
    const double usual =
        std::max(kCertain * kSigmaOverMedianDeviation * median_deviation(taus), kShare * centre);
    for (const Watch& watch : watched) {
      const double excess = watch.seconds - centre * watch.samples;
      if (excess <= usual * watch.samples) continue;
      sum += excess;
      squares += excess * excess;
    }
  }
  /// How many equal stalls these are worth.
  [[nodiscard]] double stalls() const { return squares > 0 ? sum * sum / squares : 0; }
  /// By how much the number of stalls may be larger than it was; 1 without any.
  [[nodiscard]] double most(double confidence) const {
    if (squares <= 0) return 1;
    const auto stalls = static_cast<std::size_t>(std::max(1.0, std::floor(this->stalls())));
    const std::size_t trials = std::max(kManyTrials, stalls);
    return clopper_pearson(stalls, trials, confidence).high * static_cast<double>(trials) /
           static_cast<double>(stalls);
  }
};

}  // namespace

double stalled_mean_limit(std::span<const double> taus, double confidence) {
  if (taus.empty()) return 1;
  std::vector<Watch> blocks;
  blocks.reserve(taus.size());
  for (const double tau : taus) blocks.push_back({tau, 1});
  Excess excess;
  excess.add(blocks);
  return 1 + excess.sum * (excess.most(confidence) - 1) / total_seconds(blocks);
}

std::vector<Watch> watched_blocks(std::span<const BlockRecord> records, int boundary,
                                  bool observed) {
  const Arm arm{.boundary = boundary, .observed = observed};
  std::vector<Watch> watched;
  for (const BlockRecord& record : records) {
    if (!record.is_evidence() || record.arm != arm) continue;
    watched.push_back({record.result.seconds, static_cast<double>(record.result.samples)});
  }
  return watched;
}

std::vector<Watch> groups_of(const BlockResult& run) {
  std::vector<Watch> watched;
  const auto groups = static_cast<double>(run.group_taus.size());
  const double samples = static_cast<double>(run.samples) / std::max(1.0, groups);
  for (const double tau : run.group_taus) watched.push_back({tau * samples, samples});
  return watched;
}

StalledShare stalled_share(std::span<const std::vector<Watch>> watched, double confidence) {
  Excess excess;
  StalledShare share;
  double seconds = 0;
  for (const std::vector<Watch>& alike : watched) {
    if (alike.empty()) continue;
    excess.add(alike);
    seconds += total_seconds(alike);
  }
  if (seconds <= 0) return share;
  share.share = excess.sum / seconds;
  share.high = std::min(1.0, share.share * excess.most(confidence));
  share.stalls = excess.stalls();
  return share;
}

}  // namespace cachebisect
