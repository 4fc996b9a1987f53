#include "cachebisect/bisect/evidence/drift.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cachebisect {
namespace {

constexpr std::size_t kLeastRounds = 10;
/// Pairs grow with the square: long runs are thinned.
constexpr std::size_t kMostRounds = 200;

std::vector<double> thinned(std::span<const double> values) {
  const std::size_t every = (values.size() + kMostRounds - 1) / kMostRounds;
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); i += every) kept.push_back(values[i]);
  return kept;
}

}  // namespace

Estimate find_drift(std::span<const double> log_taus, double confidence) {
  if (log_taus.size() < kLeastRounds) return {};
  const std::vector<double> values = thinned(log_taus);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  std::sort(slopes.begin(), slopes.end());
  const auto n = static_cast<double>(values.size());
  const auto pairs = static_cast<double>(slopes.size());
  const double spread =
      normal_quantile(0.5 + confidence / 2) * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const auto at = [&](double rank) {
    const double place = std::clamp(rank, 0.0, pairs - 1);
    return std::expm1(slopes[static_cast<std::size_t>(place)] * (n - 1));
  };
  return {std::expm1(median(slopes) * (n - 1)),
          Interval{at(std::floor((pairs - spread) / 2) - 1), at(std::ceil((pairs + spread) / 2))}};
}

}  // namespace cachebisect
