#include "cachebisect/bisect/evidence/confidence_sequence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cachebisect {
namespace {

constexpr double kMinScale = 1e-4;
constexpr double kPrecision = 1e-5;
/// A search starts this far beyond all values; if that theta is not rejected, the end stays open.
constexpr double kFar = 100;

double deviation(std::span<const double> values) {
  if (values.size() == 2) return std::max(kMinScale, std::abs(values[0] - values[1]));
  return std::max(kMinScale, median_deviation(values));
}

}  // namespace

double drop_to_theta(double drop) noexcept { return -std::log1p(-drop); }

double theta_to_drop(double theta) noexcept { return -std::expm1(-theta); }

double bounded_theta(double drop) noexcept { return drop_to_theta(std::min(drop, 0.999999)); }

ConfidenceSequence::ConfidenceSequence(double threshold) : threshold_(threshold) {}

double ConfidenceSequence::next_scale(int group) const {
  std::vector<double> earlier;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (groups_[i] == group) earlier.push_back(values_[i]);
  }
  // A new group has too few values to show its noise: use the scale of the value before.
  if (earlier.size() < 2) return scales_.empty() ? 0.0 : scales_.back();
  return 1.2 * deviation(earlier) * (1 + 4 / static_cast<double>(earlier.size()));
}

void ConfidenceSequence::add(double d, int group) {
  // The scale comes from earlier rounds alone: a bet must not depend on the value it is placed on.
  scales_.push_back(next_scale(group));
  values_.push_back(d);
  groups_.push_back(group);
}

double ConfidenceSequence::centre() const { return median(values_); }

double ConfidenceSequence::scale() const {
  return values_.size() < 2 ? kMinScale : deviation(values_);
}

double ConfidenceSequence::running_maximum(double theta, double sign, double stop_at) const {
  double by_sign = Bets::kSignWeight;
  std::array<double, Bets::kSizeStakes.size()> by_size{};
  by_size.fill(Bets::kSizeWeight);
  double best = 1;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double z = sign * (values_[i] - theta);
    const double g = z > 0 ? 1.0 : (z < 0 ? -1.0 : 0.0);
    const double u = scales_[i] > 0 ? std::tanh(z / scales_[i]) : 0.0;
    by_sign *= 1 + Bets::kSignStake * g;
    double sum = by_sign;
    for (std::size_t k = 0; k < Bets::kSizeStakes.size(); ++k) {
      by_size[k] *= 1 + Bets::kSizeStakes[k] * u;
      sum += by_size[k];
    }
    best = std::max(best, sum);
    if (best >= stop_at) break;
  }
  return best;
}

double ConfidenceSequence::evidence_above(double theta) const {
  return running_maximum(theta, 1, std::numeric_limits<double>::infinity());
}

double ConfidenceSequence::evidence_below(double theta) const {
  return running_maximum(theta, -1, std::numeric_limits<double>::infinity());
}

/// Moves `end` to the rejected theta nearest to the centre on one side. Thetas lie on a grid, so
/// that the result does not depend on when earlier searches were made.
void ConfidenceSequence::search(std::optional<long>& end, double sign) const {
  const long inwards = sign > 0 ? 1 : -1;
  const auto rejects = [&](long place) {
    const double theta = static_cast<double>(place) * kPrecision;
    return running_maximum(theta, sign, threshold_) >= threshold_;
  };
  if (end && !rejects(*end + inwards)) return;
  const auto [least, greatest] = std::minmax_element(values_.begin(), values_.end());
  const auto place = [](double theta) { return std::lround(theta / kPrecision); };
  if (!end) {
    const long far = sign > 0 ? place(*least - kFar) : place(*greatest + kFar);
    if (!rejects(far)) return;
    end = far;
  }
  long inside = sign > 0 ? place(*greatest) + 2 : place(*least) - 2;
  while (std::abs(inside - *end) > 1) {
    const long middle = *end + (inside - *end) / 2;
    (rejects(middle) ? *end : inside) = middle;
  }
}

Interval ConfidenceSequence::interval() const {
  if (searched_ != values_.size()) {
    search(low_, 1);
    search(high_, -1);
    searched_ = values_.size();
  }
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  return {low_ ? static_cast<double>(*low_) * kPrecision : -kOpen,
          high_ ? static_cast<double>(*high_) * kPrecision : kOpen};
}

std::optional<Interval> ConfidenceSequence::drop_interval() const {
  const Interval thetas = interval();
  if (!std::isfinite(thetas.low) || !std::isfinite(thetas.high)) return std::nullopt;
  const double drop = theta_to_drop(centre());
  return Interval{std::min(theta_to_drop(thetas.low), drop - kMinHalfWidth),
                  std::max(theta_to_drop(thetas.high), drop + kMinHalfWidth)};
}

}  // namespace cachebisect
