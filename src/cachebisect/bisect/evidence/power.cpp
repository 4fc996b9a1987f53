#include "cachebisect/bisect/evidence/power.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/evidence/rank_sequence.hpp"

namespace cachebisect {
namespace {

/// The log of the e-process grows by about this x (distance / sigma)^2 per round.
constexpr double kGrowth = 0.38;
/// Share of the initial capital that is on the bets that grow so.
constexpr double kTiltWeight = 0.1;

}  // namespace

int Power::min_rounds() const {
  constexpr int kEveryPair = 2 * kUsualRepeats * kUsualRepeats;
  RankBets bets;
  int rounds = 0;
  while (bets.capital() < 2 / (alpha * weight)) {
    bets.settle(kUsualRepeats, kEveryPair);
    rounds += kUsualRepeats;
  }
  return rounds;
}

double Power::gain_needed() const { return std::log(2 / (alpha * weight) / kTiltWeight) + 1; }

double Power::growth(double distance) const {
  const double ratio = std::abs(distance) / sigma;
  return kGrowth * ratio * ratio;
}

int Power::rounds_for(double distance) const {
  const double rounds = gain_needed() / growth(distance);
  return std::max(min_rounds() + kUsualRepeats, static_cast<int>(std::min(rounds, kMostRounds)));
}

std::optional<double> Power::distance_in(double rounds) const {
  const double fewest = min_rounds();
  if (rounds < fewest) return std::nullopt;
  // With hardly more rounds than the minimum, nearly every bet must win: the drop must be clear.
  const double clear = 1 + (fewest / rounds) * (fewest / rounds);
  return sigma * std::sqrt(gain_needed() / (kGrowth * rounds)) * clear;
}

}  // namespace cachebisect
