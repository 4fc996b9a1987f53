// What the evidence says about each part of the chain: the input of the round plan and the verdict.
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
  double drop = 0;         ///< from the means, RoundTable::tau()
  double median_drop = 0;  ///< over the rounds: no single stall moves it
  double low = 0;          ///< of the interval; -infinity while unbounded
  double high = 1;         ///< of the interval; 1 while unbounded
  double seconds = 0;      ///< lost per sample, in units of the ceiling's; used to rank
  bool by_mean = false;  ///< these seconds are of the mean, which stalls raise; else of the median
  bool bursty = false;   ///< the mean lies outside the interval of the centre
  bool stalls = false;   ///< certified by the mean: lost in rare stalls
  /// No constant drop explains the rounds: all are rejected, and there is no interval.
  bool not_stationary = false;
  bool slower_cached = false;        ///< certified: slower from the cache than live, by over 2%
  bool maybe_slower_cached = false;  ///< not certified, but close enough to wait for
  /// Certified to lie below min_drop or to cost less than the leader, and its mean does not
  /// contradict that.
  bool excluded = false;
  /// The larger of mean and median; on a noisy machine, the mean only if it stands out from the
  /// noise.
  double seeming_drop = 0;
  double scale = 0;  ///< median deviation of one round's log drop
  /// For a rival: how far its log drop is from one that costs as much as the leader.
  double distance = 0;
  double missing = 0;  ///< for a rival: log of what excluding it lacks in evidence
  /// Rounds after which its stalls certify it if they go on like this; 0: not known, or not needed.
  double rounds_to_certify_stalls = 0;
  [[nodiscard]] std::optional<Interval> interval() const;
  /// Approximate standard error of the median log drop; 0 without rounds.
  [[nodiscard]] double error() const;
};

struct CACHEBISECT_INTERNAL_API Findings {
  std::vector<Finding> parts;  ///< cover the chain from boundary 0 to n without gaps
  Finding whole;
  /// Index in parts: the most seconds per sample among those certified above min_drop.
  std::optional<std::size_t> leader;
  /// Index in parts: loses more than the leader by the mean, in stalls too few to certify.
  std::optional<std::size_t> challenger;
  std::vector<std::size_t> rivals;  ///< parts that may cost as many seconds as the leader
  /// Rounds that must visit a boundary before what they show stands out from the noise. Parts begin
  /// and end at such boundaries only.
  int min_visits = 1;
  double live_seconds = 0;  ///< timed seconds in live blocks, where a stall would show
  /// The mean whole loss plus two standard errors, because one stall that only live met may be the
  /// first of many.
  double mean_bound = 1;
  /// The same; the median loss if the ceiling stalls too.
  double max_mean_loss = 0;
  /// True if live, or the leader, loses time in stalls: centres do not show how much.
  [[nodiscard]] bool lose_in_stalls() const;
};

struct FindingsOptions {
  double min_drop = 0.05;
  int workers = 0;
  double confidence = 0.99;
  std::vector<double> serve_seconds;  ///< per sample, by boundary (rho_k); may be empty
  /// Boundaries whose replay differs from live (ReplayFidelity): no part ends there.
  std::vector<int> distorted;
};

/// Assesses the whole chain and each part between visited boundaries. Needs at least one committed
/// round, with boundaries 0 and n. Brings `evidence` up to date.
[[nodiscard]] CACHEBISECT_INTERNAL_API Findings assess(PartEvidence& evidence,
                                                       const FindingsOptions& options);

}  // namespace cachebisect
