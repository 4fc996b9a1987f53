// Evidence from super-rounds: m blocks of each arm, all in one random order. Given when they ran
// and what the machine did then, each of the C(2m, m) ways to share the slots between two arms is
// equally likely, if the noise does not depend on the arm and the slow arm's times are divided by
// the hypothetical ratio. So for any function f of the ranks, f / mean of f over all ways has mean
// 1 under the null (a permutation e-value), and products over super-rounds are an e-process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/confidence_sequence.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Bets on U, the number of pairs (slow block, fast block) in which the slow one takes longer; ties
/// count half (Mann and Whitney 1947). f rises with U, so a log drop that is smaller than the
/// hypothetical one makes each factor smaller: the one-sided null is covered.
class CACHEBISECT_INTERNAL_API RankBets {
 public:
  RankBets();
  /// `twice_u`: 2 U of `repeats` blocks of each arm; repeats in [1, kMaxRepeats].
  void settle(int repeats, int twice_u);
  [[nodiscard]] double capital() const noexcept;

 private:
  std::vector<double> capitals_;  ///< by bet
};

/// Not thread safe.
class CACHEBISECT_INTERNAL_API RankSequence final : public ConfidenceSequence {
 public:
  using ConfidenceSequence::ConfidenceSequence;

  /// One super-round: log seconds per sample of the blocks of each arm. Equally many, 1 to
  /// kMaxRepeats; the i-th of both make the i-th value.
  void add(std::span<const double> slow, std::span<const double> fast);
  /// A round that is not evidence: it counts for the centre.
  void add_value_only(double d) { add_value(d); }

 private:
  struct SuperRound {
    std::vector<double> slow;
    std::vector<double> fast;
  };
  [[nodiscard]] double running_maximum(double theta, double sign, double stop_at) const override;

  std::vector<SuperRound> super_rounds_;
};

}  // namespace cachebisect
