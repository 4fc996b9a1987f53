// What a number of rounds can certify at a given noise, and how many rounds a question needs.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// More rounds than these are not worth asking for exactly.
inline constexpr double kMostRounds = 1e6;

/// The power of a RankSequence with threshold 2 / (alpha weight).
struct CACHEBISECT_INTERNAL_API Power {
  double sigma = 0.01;  ///< robust standard deviation of the log drop of one round
  double alpha = 0.01;
  double weight = 0.5;  ///< share of the error
  /// The fewest rounds that can certify anything: those that reach the threshold if every block of
  /// one arm is slower than every block of the other.
  [[nodiscard]] int min_rounds() const;
  /// By how much the log of the evidence grows in a round, about, if the log drop is so far from
  /// the one that it is against.
  [[nodiscard]] double growth(double distance) const;
  /// Rounds needed to tell apart two log drops that differ by `distance`.
  [[nodiscard]] int rounds_for(double distance) const;
  /// The smallest difference that `rounds` rounds can resolve; empty if there are too few.
  [[nodiscard]] std::optional<double> distance_in(double rounds) const;

 private:
  /// Natural log of the factor by which the bets on the shift must grow.
  [[nodiscard]] double gain_needed() const;
};

}  // namespace cachebisect
