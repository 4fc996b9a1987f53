// What rounds of a given noise can certify, and how many of them a question needs.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Of a ConfidenceSequence with threshold 2 / (alpha weight).
struct CACHEBISECT_INTERNAL_API Power {
  double sigma = 0.01;  ///< robust standard deviation of the log drop of one round
  double alpha = 0.01;
  double weight = 0.5;  ///< share of the error
  /// -log of the threshold over the most that one round can win: no symmetric test needs fewer.
  [[nodiscard]] int min_rounds() const;
  /// Rounds to tell a log drop from another that is `distance` away.
  [[nodiscard]] int rounds_for(double distance) const;
  /// The smallest distance that so many rounds can tell; empty for too few rounds.
  [[nodiscard]] std::optional<double> distance_in(double rounds) const;

 private:
  /// Natural log of the gain that the bets on the size need.
  [[nodiscard]] double gain_needed() const;
};

}  // namespace cachebisect
