#include "cachebisect/bisect/evidence/confidence_sequence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cachebisect {
namespace {

/// Noise below this is none, and thetas closer than this are one: far below kMinHalfWidth.
constexpr double kMinScale = 1e-4;
constexpr double kPrecision = 1e-5;
/// A search starts this far beyond all values; if that theta is not rejected, the end stays open.
constexpr double kFar = 100;

}  // namespace

ConfidenceSequence::~ConfidenceSequence() = default;

double round_noise(std::span<const double> values) {
  if (values.size() == 2) return std::max(kMinScale, std::abs(values[0] - values[1]));
  return std::max(kMinScale, median_deviation(values));
}

double drop_to_theta(double drop) noexcept { return -std::log1p(-drop); }

double theta_to_drop(double theta) noexcept { return -std::expm1(-theta); }

double bounded_theta(double drop) noexcept { return drop_to_theta(std::min(drop, 0.999999)); }

double ConfidenceSequence::centre() const { return median(values_); }

double ConfidenceSequence::scale() const {
  return values_.size() < 2 ? kMinScale : round_noise(values_);
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
