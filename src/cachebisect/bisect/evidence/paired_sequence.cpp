#include "cachebisect/bisect/evidence/paired_sequence.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect {
namespace {

/// The scale of a bet, from earlier values alone: it must not depend on the value it is placed on.
double next_scale(std::span<const double> earlier) {
  if (earlier.size() < 2) return 0;
  return 1.2 * round_noise(earlier) * (1 + 4 / static_cast<double>(earlier.size()));
}

}  // namespace

void PairedSequence::add(double d) {
  scales_.push_back(next_scale(values()));
  add_value(d);
}

double PairedSequence::running_maximum(double theta, double sign, double stop_at) const {
  double by_sign = PairedBets::kSignWeight;
  std::array<double, PairedBets::kSizeStakes.size()> by_size{};
  by_size.fill(PairedBets::kSizeWeight);
  double best = 1;
  for (std::size_t i = 0; i < values().size(); ++i) {
    const double z = sign * (values()[i] - theta);
    const double g = z > 0 ? 1.0 : (z < 0 ? -1.0 : 0.0);
    const double u = scales_[i] > 0 ? std::tanh(z / scales_[i]) : 0.0;
    by_sign *= 1 + PairedBets::kSignStake * g;
    double sum = by_sign;
    for (std::size_t k = 0; k < PairedBets::kSizeStakes.size(); ++k) {
      by_size[k] *= 1 + PairedBets::kSizeStakes[k] * u;
      sum += by_size[k];
    }
    best = std::max(best, sum);
    if (best >= stop_at) break;
  }
  return best;
}

}  // namespace cachebisect
