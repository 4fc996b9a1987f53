#include "cachebisect/bisect/evidence/evidence.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect {
namespace {

constexpr double kLeastScale = 1e-4;
constexpr double kSignWeight = 0.35;
constexpr double kSignStake = 0.98;
constexpr std::array kStakes{0.08, 0.2, 0.4, 0.65, 0.9};
constexpr double kStakeWeight = 0.13;
constexpr double kPrecision = 1e-5;

double deviation(std::span<const double> values) {
  if (values.size() == 2) return std::max(kLeastScale, std::abs(values[0] - values[1]));
  const double centre = median(values);
  std::vector<double> distances(values.size());
  std::transform(values.begin(), values.end(), distances.begin(),
                 [&](double d) { return std::abs(d - centre); });
  return std::max(kLeastScale, median(distances));
}

}  // namespace

double drop_to_theta(double drop) noexcept { return -std::log1p(-drop); }

double theta_to_drop(double theta) noexcept { return -std::expm1(-theta); }

Evidence::Evidence(double threshold) : threshold_(threshold) {}

double Evidence::next_scale(int group) const {
  std::vector<double> earlier;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (groups_[i] == group) earlier.push_back(values_[i]);
  }
  // A new group is as noisy as the last one, as far as is known.
  if (earlier.size() < 2) return scales_.empty() ? 0.0 : scales_.back();
  return 1.2 * deviation(earlier) * (1 + 4 / static_cast<double>(earlier.size()));
}

void Evidence::add(double d, int group) {
  // The scale comes from earlier rounds alone: the stake must not see what it is staked on.
  scales_.push_back(next_scale(group));
  values_.push_back(d);
  groups_.push_back(group);
}

double Evidence::centre() const { return median(values_); }

double Evidence::scale() const { return values_.size() < 2 ? kLeastScale : deviation(values_); }

double Evidence::running_maximum(double theta, double sign, double stop_at) const {
  double by_sign = kSignWeight;
  std::array<double, kStakes.size()> by_size{};
  by_size.fill(kStakeWeight);
  double best = 1;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double z = sign * (values_[i] - theta);
    const double g = z > 0 ? 1.0 : (z < 0 ? -1.0 : 0.0);
    const double u = scales_[i] > 0 ? std::tanh(z / scales_[i]) : 0.0;
    by_sign *= 1 + kSignStake * g;
    double sum = by_sign;
    for (std::size_t k = 0; k < kStakes.size(); ++k) {
      by_size[k] *= 1 + kStakes[k] * u;
      sum += by_size[k];
    }
    best = std::max(best, sum);
    if (best >= stop_at) break;
  }
  return best;
}

double Evidence::evidence_above(double theta) const {
  return running_maximum(theta, 1, std::numeric_limits<double>::infinity());
}

double Evidence::evidence_below(double theta) const {
  return running_maximum(theta, -1, std::numeric_limits<double>::infinity());
}

void Evidence::search(double& end, double sign) const {
  // `end` is the last rejected theta on its side. Is the next one towards the centre rejected too?
  const auto rejects = [&](double theta) {
    return running_maximum(theta, sign, threshold_) >= threshold_;
  };
  if (std::isfinite(end) && !rejects(end + sign * kPrecision)) return;
  double inside = sign > 0 ? *std::max_element(values_.begin(), values_.end())
                           : *std::min_element(values_.begin(), values_.end());
  inside += sign * kPrecision;
  if (!std::isfinite(end)) {
    // Beyond every value the outcome cannot change much; so far away or not at all.
    const double far = sign > 0 ? *std::min_element(values_.begin(), values_.end()) - 100
                                : *std::max_element(values_.begin(), values_.end()) + 100;
    if (!rejects(far)) return;
    end = far;
  }
  while (std::abs(inside - end) > kPrecision) {
    const double middle = 0.5 * (inside + end);
    (rejects(middle) ? end : inside) = middle;
  }
}

Interval Evidence::interval() const {
  if (looked_at_ != values_.size()) {
    search(low_, 1);
    search(high_, -1);
    looked_at_ = values_.size();
  }
  return {low_, high_};
}

std::optional<Interval> Evidence::drop_interval() const {
  const Interval thetas = interval();
  if (!std::isfinite(thetas.low) || !std::isfinite(thetas.high)) return std::nullopt;
  const double drop = theta_to_drop(centre());
  return Interval{std::min(theta_to_drop(thetas.low), drop - kLeastHalfWidth),
                  std::max(theta_to_drop(thetas.high), drop + kLeastHalfWidth)};
}

}  // namespace cachebisect
