#include "cachebisect/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/quantiles.hpp"

namespace cachebisect {

double mean(std::span<const double> values) noexcept {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) noexcept {
  if (values.size() < 2) return 0;
  const double centre = mean(values);
  double squares = 0;
  for (const double v : values) squares += (v - centre) * (v - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double coefficient_of_variation(std::span<const double> values) noexcept {
  const double centre = mean(values);
  return centre == 0 ? 0 : standard_deviation(values) / centre;
}

double quantile(std::span<const double> values, double probability) {
  if (values.empty()) throw Error(ErrorKind::internal, "quantile() of no values");
  std::vector<double> sorted(values.begin(), values.end());
  const double place = std::clamp(probability, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(sorted.begin(), at, sorted.end());
  const double low = *at;
  if (below + 1 == sorted.size()) return low;
  const double high = *std::min_element(at + 1, sorted.end());
  return low + (place - static_cast<double>(below)) * (high - low);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

std::optional<Interval> median_interval(std::span<const double> values, double confidence) {
  // P(the median lies below the (k+1)-th smallest value) = P(at most k of n fair coins show heads).
  const std::size_t n = values.size();
  const auto rank = heads_quantile(n, (1 - confidence) / 2);
  if (!rank) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[*rank], sorted[n - 1 - *rank]};
}

std::optional<Interval> mean_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double t = student_quantile(confidence, n - 1);
  const double half = t * standard_deviation(values) / std::sqrt(n);
  return Interval{mean(values) - half, mean(values) + half};
}

std::optional<Interval> typical_interval(std::span<const double> values, double confidence) {
  const auto of_median = median_interval(values, confidence);
  return of_median ? of_median : mean_interval(values, confidence);
}

Interval clopper_pearson(std::size_t successes, std::size_t trials, double confidence) {
  if (successes > trials) {
    throw Error(ErrorKind::internal, "clopper_pearson(): more successes than trials");
  }
  if (trials == 0) return {0, 1};
  const double tail = (1 - confidence) / 2;
  const auto k = static_cast<double>(successes);
  const auto n = static_cast<double>(trials);
  Interval result{0, 1};
  if (successes > 0) result.low = beta_quantile(k, n - k + 1, tail);
  if (successes < trials) result.high = beta_quantile(k + 1, n - k, 1 - tail);
  return result;
}

double median_deviation(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> distances(values.size());
  std::transform(values.begin(), values.end(), distances.begin(),
                 [&](double v) { return std::abs(v - centre); });
  return median(distances);
}

double hodges_lehmann(std::span<const double> values) {
  // More pairs than these improve the estimate very little.
  constexpr std::size_t kMaxPaired = 256;
  const std::size_t stride = (values.size() + kMaxPaired - 1) / kMaxPaired;
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    for (std::size_t j = i; j < values.size(); j += stride) {
      means.push_back(0.5 * (values[i] + values[j]));
    }
  }
  return median(means);
}

Slope theil_sen(std::span<const double> values, double confidence) {
  if (values.size() < 2) throw Error(ErrorKind::internal, "theil_sen() of fewer than two values");
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
    return slopes[static_cast<std::size_t>(std::clamp(rank, 0.0, pairs - 1))];
  };
  return {median(slopes),
          {at(std::floor((pairs - spread) / 2) - 1), at(std::ceil((pairs + spread) / 2))}};
}

}  // namespace cachebisect
