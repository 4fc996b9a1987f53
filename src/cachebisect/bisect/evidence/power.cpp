#include "cachebisect/bisect/evidence/power.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/evidence/confidence_sequence.hpp"

namespace cachebisect {
namespace {

/// The log of the e-process grows by about this x (distance / sigma)^2 per round.
constexpr double kGrowth = 0.38;

}  // namespace

int Power::min_rounds() const {
  return static_cast<int>(std::ceil(std::log(2 / (alpha * weight) / Bets::kSignWeight) /
                                    std::log(1 + Bets::kSignStake)));
}

double Power::gain_needed() const { return std::log(2 / (alpha * weight) / Bets::kSizeWeight) + 1; }

int Power::rounds_for(double distance) const {
  constexpr double kMax = 1e6;
  const double ratio = sigma / std::max(std::abs(distance), 1e-9);
  const double rounds = gain_needed() * ratio * ratio / kGrowth;
  return std::max(min_rounds() + 1, static_cast<int>(std::min(rounds, kMax)));
}

std::optional<double> Power::distance_in(double rounds) const {
  const double fewest = min_rounds();
  if (rounds < fewest) return std::nullopt;
  // With hardly more rounds than the minimum, nearly every bet must win: the drop must be clear.
  const double clear = 1 + (fewest / rounds) * (fewest / rounds);
  return sigma * std::sqrt(gain_needed() / (kGrowth * rounds)) * clear;
}

}  // namespace cachebisect
