#include "cachebisect/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/student.hpp"

namespace cachebisect {
namespace {

/// Solves increasing(x) = target on [low, high] by bisection, to full precision.
template <typename Function>
double solve(double low, double high, double target, const Function& increasing) {
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (increasing(middle) < target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double beta_fraction(double a, double b, double x) noexcept {
  constexpr double kTiny = 1e-300;
  const auto guard = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / guard(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= 500; ++m) {
    const double k = m;
    const double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    result *= d * c;
    const double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

}  // namespace

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
  const std::size_t n = values.size();
  // P(the median lies below the (k+1)-th smallest value) = P(Binomial(n, 1/2) <= k).
  const double log_scale = -static_cast<double>(n) * std::numbers::ln2;
  double tail = 0;
  std::optional<std::size_t> rank;
  for (std::size_t k = 0; 2 * k + 1 < n; ++k) {
    tail +=
        std::exp(std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(k) + 1) -
                 std::lgamma(static_cast<double>(n - k) + 1) + log_scale);
    if (2 * tail > 1 - confidence) break;
    rank = k;
  }
  if (!rank) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[*rank], sorted[n - 1 - *rank]};
}

double incomplete_beta(double a, double b, double x) noexcept {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_quantile(double probability, double freedom) {
  // P(|T| <= t) = 1 - I_x(f/2, 1/2) with x = f / (f + t^2).
  const double x = solve(0, 1, 1 - probability,
                         [&](double at) { return incomplete_beta(freedom / 2, 0.5, at); });
  return std::sqrt(freedom * (1 - x) / x);
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
  if (successes > 0) {
    result.low = solve(0, 1, tail, [&](double p) { return incomplete_beta(k, n - k + 1, p); });
  }
  if (successes < trials) {
    result.high = solve(0, 1, 1 - tail, [&](double p) { return incomplete_beta(k + 1, n - k, p); });
  }
  return result;
}

double normal_quantile(double probability) noexcept {
  const double p = std::clamp(probability, 1e-300, 1 - 1e-16);
  return solve(-38, 9, p, [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); });
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
