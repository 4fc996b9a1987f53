#include "cachebisect/bisect/evidence/stalls.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect {
namespace {

/// A block is a stall if it lies above the median by so many standard deviations, as the median
/// deviation tells them, and by this share of the median.
constexpr double kDeviations = 4;
constexpr double kShare = 0.1;
/// With so many trials a binomial interval is that of a Poisson rate.
constexpr std::size_t kManyTrials = 100000;

/// A mean that lies this many standard errors away is not explained by noise.
constexpr double kErrors = 2;

double total_seconds(std::span<const Watch> watched) {
  return std::transform_reduce(watched.begin(), watched.end(), 0.0, std::plus{},
                               [](const Watch& watch) { return watch.seconds; });
}

double mean_tau(std::span<const Watch> watched) {
  const double samples = std::transform_reduce(watched.begin(), watched.end(), 0.0, std::plus{},
                                               [](const Watch& watch) { return watch.samples; });
  return total_seconds(watched) / samples;
}

std::vector<double> taus_of(std::span<const Watch> watched) {
  std::vector<double> taus;
  taus.reserve(watched.size());
  for (const Watch& watch : watched) taus.push_back(watch.seconds / watch.samples);
  return taus;
}

/// Relative standard error of the mean.
double error_of_mean(std::span<const Watch> watched) {
  const double mean = mean_tau(watched);
  double squares = 0;
  for (const Watch& watch : watched) {
    const double residual = watch.seconds - mean * watch.samples;
    squares += residual * residual;
  }
  return std::sqrt(squares) / total_seconds(watched);
}

}  // namespace

double stalled_mean_limit(std::span<const Watch> watched, double confidence) {
  if (watched.empty()) return 1;
  const std::vector<double> taus = taus_of(watched);
  const double centre = median(taus);
  const double usual =
      std::max(kDeviations * kSigmaOverMedianDeviation * median_deviation(taus), kShare * centre);
  double sum = 0;
  double squares = 0;
  for (const Watch& watch : watched) {
    const double excess = watch.seconds - centre * watch.samples;
    if (excess <= usual * watch.samples) continue;
    sum += excess;
    squares += excess * excess;
  }
  if (squares <= 0) return 1;
  const auto stalls = static_cast<std::size_t>(std::max(1.0, std::floor(sum * sum / squares)));
  const std::size_t trials = std::max(kManyTrials, stalls);
  const double most =
      clopper_pearson(stalls, trials, confidence).high * static_cast<double>(trials);
  return 1 + sum * (most / static_cast<double>(stalls) - 1) / total_seconds(watched);
}

double stalled_mean_limit(std::span<const double> taus, double confidence) {
  std::vector<Watch> blocks;
  blocks.reserve(taus.size());
  for (const double tau : taus) blocks.push_back({tau, 1});
  return stalled_mean_limit(blocks, confidence);
}

std::optional<WatchedLoss> watched_loss(std::span<const Watch> live, std::span<const Watch> ceiling,
                                        double confidence) {
  if (live.empty() || ceiling.empty()) return std::nullopt;
  const double lost = mean_tau(ceiling) / mean_tau(live);
  const double usual_live = median(taus_of(live));
  const double usual_ceiling = median(taus_of(ceiling));
  const double above_live = mean_tau(live) / usual_live - 1;
  const double above_ceiling = mean_tau(ceiling) / usual_ceiling - 1;
  if (above_ceiling >= kStallsAlike * above_live) {
    return WatchedLoss{1 - lost, 1 - usual_ceiling / usual_live};
  }
  const double error = std::hypot(error_of_mean(live), error_of_mean(ceiling));
  const double limit = std::max(1 + kErrors * error, stalled_mean_limit(live, confidence));
  return WatchedLoss{1 - lost, 1 - lost / limit};
}

}  // namespace cachebisect
