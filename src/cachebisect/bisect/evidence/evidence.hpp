// What paired blocks prove about a log drop, at every look, without a penalty for peeking: a
// test by betting (Waudby-Smith and Ramdas 2023; Howard et al. 2021) that stakes on the sign and on
// the scaled size of d - theta, which is symmetric about 0 under noise from outside.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect {

/// theta of a drop: -log(1 - drop); drop below 1.
CACHEBISECT_API double drop_to_theta(double drop) noexcept;
/// The drop of a theta: 1 - exp(-theta); negative where the stage makes things faster.
CACHEBISECT_API double theta_to_drop(double theta) noexcept;

/// No interval of a drop is printed narrower than this on either side of its centre: the
/// systematics of timer and device.
inline constexpr double kLeastHalfWidth = 0.002;

/// Evidence about one pair of boundaries. Values are d = log tau(upstream) - log tau(downstream),
/// one a round. Not thread safe.
class CACHEBISECT_API Evidence {
 public:
  /// `threshold` of the e-process: 2 / (alpha w).
  explicit Evidence(double threshold);

  /// `group`: values of one group share a centre; how far they scatter about it scales the stakes
  /// on the group's next value.
  void add(double d, int group = 0);
  [[nodiscard]] std::size_t rounds() const noexcept { return values_.size(); }
  [[nodiscard]] std::span<const double> values() const noexcept { return values_; }
  [[nodiscard]] double threshold() const noexcept { return threshold_; }
  /// Median of d; rounds() > 0.
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

  /// The thetas not rejected in either direction, by bisection to 1e-5; infinite ends where nothing
  /// is rejected yet. Costs O(rounds) where the last look's interval still holds.
  [[nodiscard]] Interval interval() const;
  /// The same as drops, at least kLeastHalfWidth on either side of the centre; none while either
  /// end is open.
  [[nodiscard]] std::optional<Interval> drop_interval() const;

 private:
  [[nodiscard]] double running_maximum(double theta, double sign, double stop_at) const;
  void search(double& end, double sign) const;

  [[nodiscard]] double next_scale(int group) const;

  double threshold_;
  std::vector<double> values_;
  std::vector<int> groups_;
  std::vector<double> scales_;  ///< 1.2 m_r (1 + 4/r) before each value; 0: no stake on its size
  // The ends move towards the centre only, as running maxima only grow: kept between looks.
  mutable double low_ = -std::numeric_limits<double>::infinity();
  mutable double high_ = std::numeric_limits<double>::infinity();
  mutable std::size_t looked_at_ = 0;
};

}  // namespace cachebisect
