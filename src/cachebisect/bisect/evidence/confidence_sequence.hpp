// An interval for a log drop from blocks of two arms, valid after every check without a penalty for
// repeated ones: a test by betting (Waudby-Smith and Ramdas 2023; Howard et al. 2021). A
// hypothetical log drop is rejected when bets against it have multiplied their capital.
#pragma once

#include <cstddef>
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

/// Share of the error for what will most likely be claimed: at 99%, two super-rounds suffice for
/// it. What is less likely, or claims more, has the rest.
inline constexpr double kMainShare = 0.9;

/// Evidence about one pair of arms. Values are d = log tau(slow) - log tau(fast), one per round.
/// Not thread safe.
class CACHEBISECT_INTERNAL_API ConfidenceSequence {
 public:
  /// A theta is rejected when the e-process reaches `threshold`, which is 2 / (alpha w).
  explicit ConfidenceSequence(double threshold) : threshold_(threshold) {}
  virtual ~ConfidenceSequence();

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

 protected:
  ConfidenceSequence(const ConfidenceSequence&) = default;
  ConfidenceSequence(ConfidenceSequence&&) = default;
  ConfidenceSequence& operator=(const ConfidenceSequence&) = default;
  ConfidenceSequence& operator=(ConfidenceSequence&&) = default;

  void add_value(double d) { values_.push_back(d); }
  /// Running maximum of the e-process against "the log drop is at most theta" (`sign` 1) or "at
  /// least theta" (-1). May stop early once it has reached `stop_at`.
  [[nodiscard]] virtual double running_maximum(double theta, double sign, double stop_at) const = 0;

 private:
  void search(std::optional<long>& end, double sign) const;

  double threshold_;
  std::vector<double> values_;
  // Running maxima only grow, so the ends only move towards the centre: each search starts from the
  // last ends. Multiples of 1e-5; empty while infinite.
  mutable std::optional<long> low_;
  mutable std::optional<long> high_;
  mutable std::size_t searched_ = 0;  ///< number of values at the last search
};

/// Median |d - median d| of at least two values, |d - d'| of two; at least 1e-4.
[[nodiscard]] CACHEBISECT_INTERNAL_API double round_noise(std::span<const double> values);

}  // namespace cachebisect
