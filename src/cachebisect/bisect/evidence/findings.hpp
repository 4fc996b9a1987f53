// What the evidence says of each part of the chain: the input of plan and verdict.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/part_evidence.hpp"

namespace cachebisect {

/// One part of the chain. Drops are shares of throughput, 1 - T(from)/T(to).
struct CACHEBISECT_INTERNAL_API Finding {
  Part part;
  std::size_t rounds = 0;
  double drop = 0;                   ///< from the table: all seconds over all samples
  double median_drop = 0;            ///< of the rounds; ranks, as no single stall moves it
  double low = 0;                    ///< -infinity while open
  double high = 1;                   ///< 1 while open
  bool bursty = false;               ///< the mean lies outside what the rounds' centre allows
  bool slower_cached = false;        ///< certified: faster live than from the cache, beyond 2%
  bool maybe_slower_cached = false;  ///< not certified, but close enough to wait for
  /// Certified to lie below the bar, and its mean does not contradict that.
  bool excluded = false;
  /// The larger of mean and median; in noise the mean only if it stands out of the noise.
  double seeming_drop = 0;
  double scale = 0;  ///< median deviation of one round's log drop
  [[nodiscard]] std::optional<Interval> interval() const;
  /// About the standard error of the median log drop; 0 without rounds.
  [[nodiscard]] double error() const;
};

struct Findings {
  std::vector<Finding> parts;  ///< from boundary 0 to n, without gaps
  Finding whole;
  /// Index in parts: the largest median drop among those certified.
  std::optional<std::size_t> leader;
  std::vector<std::size_t> rivals;  ///< parts whose drop may be as large as the leader's
  double bar = 0;  ///< the drop that parts are excluded below: min_drop, or the leader's low
  /// Rounds that must have visited a boundary before what they show of it stands out of the noise;
  /// parts lie between such boundaries.
  int min_visits = 1;
  double live_seconds = 0;  ///< timed: how long live was watched for stalls
  /// What the whole loss may be by its mean, two standard errors up: one stall that only live met
  /// may be the first of many. The median loss if the ceiling stalls too, or in noise.
  double max_mean_loss = 0;
};

struct FindingsOptions {
  double min_drop = 0.05;
  int workers = 0;
  std::vector<double> serve_seconds;  ///< rho_k by boundary; may be empty
};

/// Needs at least one committed round, with boundaries 0 and n.
[[nodiscard]] CACHEBISECT_INTERNAL_API Findings assess(PartEvidence& evidence,
                                                       const FindingsOptions& options);

}  // namespace cachebisect
