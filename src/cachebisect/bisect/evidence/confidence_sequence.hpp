// An interval for a log drop from paired blocks, valid after every round without a penalty for
// repeated checks: a test by betting (Waudby-Smith and Ramdas 2023; Howard et al. 2021). It bets on
// the sign and on the scaled size of d - theta, which is symmetric about 0 if the noise does not
// depend on the arm.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect {

/// theta of a drop: -log(1 - drop); drop below 1.
CACHEBISECT_INTERNAL_API double drop_to_theta(double drop) noexcept;
/// The drop of a theta: 1 - exp(-theta); negative if the stage speeds things up.
CACHEBISECT_INTERNAL_API double theta_to_drop(double theta) noexcept;

/// drop_to_theta() of a measured drop, which may be 1 or more: capped, so that the result is
/// finite.
CACHEBISECT_INTERNAL_API double bounded_theta(double drop) noexcept;

/// An interval of a drop is printed at least this wide on either side of its centre, which covers
/// the systematic errors of timers and devices.
inline constexpr double kMinHalfWidth = 0.002;

/// The bets of the e-process. Weights are shares of the initial capital and sum to 1; a stake is
/// the fraction of its current capital that a bet risks on each value.
struct Bets {
  static constexpr double kSignWeight = 0.35;  ///< of the bet on the sign
  static constexpr double kSignStake = 0.98;
  static constexpr double kSizeWeight = 0.13;  ///< of each bet on the scaled size
  static constexpr std::array kSizeStakes{0.08, 0.2, 0.4, 0.65, 0.9};
};

/// Evidence about one pair of arms. Values are d = log tau(slow) - log tau(fast), one per round.
/// Not thread safe.
class CACHEBISECT_INTERNAL_API ConfidenceSequence {
 public:
  /// A theta is rejected when the e-process reaches `threshold`, which is 2 / (alpha w).
  explicit ConfidenceSequence(double threshold);

  /// Values of one `group` share a centre; their scatter about it scales the bet on the group's
  /// next value.
  void add(double d, int group = 0);
  [[nodiscard]] std::size_t rounds() const noexcept { return values_.size(); }
  [[nodiscard]] std::span<const double> values() const noexcept { return values_; }
  [[nodiscard]] double threshold() const noexcept { return threshold_; }
  /// Median of d. Needs at least one round.
  [[nodiscard]] double centre() const;
  /// Median |d - median d|, the noise of one round; at least 1e-4.
  [[nodiscard]] double scale() const;

  /// Running maximum of the e-process against "the log drop is at most theta".
  [[nodiscard]] double evidence_above(double theta) const;
  /// Running maximum of the e-process against "the log drop is at least theta".
  [[nodiscard]] double evidence_below(double theta) const;
  [[nodiscard]] bool rejects_at_most(double theta) const {
    return evidence_above(theta) >= threshold_;
  }
  [[nodiscard]] bool rejects_at_least(double theta) const {
    return evidence_below(theta) >= threshold_;
  }

  /// The thetas that are rejected in neither direction, to 1e-5. An end is infinite while nothing
  /// is rejected on its side. The result depends on the values alone, not on when it was last asked
  /// for.
  [[nodiscard]] Interval interval() const;
  /// The same interval as drops, at least kMinHalfWidth on either side of the centre; empty while
  /// an end is infinite.
  [[nodiscard]] std::optional<Interval> drop_interval() const;

 private:
  /// Stops early once `stop_at` is reached.
  [[nodiscard]] double running_maximum(double theta, double sign, double stop_at) const;
  void search(std::optional<long>& end, double sign) const;
  [[nodiscard]] double next_scale(int group) const;

  double threshold_;
  std::vector<double> values_;
  std::vector<int> groups_;
  std::vector<double> scales_;  ///< 1.2 m_r (1 + 4/r) before each value; 0: no stake on its size
  // Running maxima only grow, so the ends only move towards the centre: each search starts from the
  // last ends. Multiples of 1e-5; empty while infinite.
  mutable std::optional<long> low_;
  mutable std::optional<long> high_;
  mutable std::size_t searched_ = 0;  ///< number of values at the last search
};

}  // namespace cachebisect
