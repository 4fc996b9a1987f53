// Evidence from single rounds: it bets on the sign and on the scaled size of d - theta, which is
// symmetric about 0 if the noise does not depend on the arm. For figures of two blocks that cannot
// be told apart again; where they can, RankSequence needs about half as many rounds.
#pragma once

#include <array>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/confidence_sequence.hpp"

namespace cachebisect {

/// The bets of the e-process. Weights are shares of the initial capital and sum to 1; a stake is
/// the fraction of its current capital that a bet risks on each value.
struct PairedBets {
  static constexpr double kSignWeight = 0.35;  ///< of the bet on the sign
  /// A sign that is right 99 times in 100 would make it 0.98 (Kelly 1956).
  static constexpr double kSignStake = 0.98;
  /// From little noise to much.
  static constexpr std::array kSizeStakes{0.08, 0.2, 0.4, 0.65, 0.9};
  /// Weight of each bet on the scaled size.
  static constexpr double kSizeWeight = (1 - kSignWeight) / static_cast<double>(kSizeStakes.size());
};

/// Not thread safe.
class CACHEBISECT_INTERNAL_API PairedSequence final : public ConfidenceSequence {
 public:
  using ConfidenceSequence::ConfidenceSequence;

  void add(double d);

 private:
  [[nodiscard]] double running_maximum(double theta, double sign, double stop_at) const override;

  std::vector<double> scales_;  ///< 1.2 m_r (1 + 4/r) before each value; 0: no stake on its size
};

}  // namespace cachebisect
