#include "cachebisect/bisect/evidence/stalls.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect {
namespace {

/// A block is a stall if it lies above the median by so many standard deviations, as the median
/// deviation tells them, and by this share of the median.
constexpr double kDeviations = 4;
constexpr double kShare = 0.1;
/// With so many trials a binomial interval is that of a Poisson rate.
constexpr std::size_t kManyTrials = 100000;

}  // namespace

double stalled_mean_limit(std::span<const double> taus, double confidence) {
  if (taus.empty()) return 1;
  const double centre = median(taus);
  const double usual =
      std::max(kDeviations * kSigmaOverMedianDeviation * median_deviation(taus), kShare * centre);
  double sum = 0;
  double squares = 0;
  for (const double tau : taus) {
    const double excess = tau - centre;
    if (excess <= usual) continue;
    sum += excess;
    squares += excess * excess;
  }
  if (squares <= 0) return 1;
  const auto stalls = static_cast<std::size_t>(std::max(1.0, std::floor(sum * sum / squares)));
  const double most = clopper_pearson(stalls, std::max(kManyTrials, stalls), confidence).high *
                      static_cast<double>(std::max(kManyTrials, stalls));
  const double added =
      sum / static_cast<double>(taus.size()) * (most / static_cast<double>(stalls) - 1);
  return 1 + added / mean(taus);
}

}  // namespace cachebisect
