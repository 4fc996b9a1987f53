#include "cachebisect/bisect/evidence/drift.hpp"

#include <cmath>
#include <vector>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Long runs are thinned, because the slope is taken over all pairs of values.
constexpr std::size_t kMaxRounds = 200;

std::vector<double> thinned(std::span<const double> values) {
  const std::size_t every = (values.size() + kMaxRounds - 1) / kMaxRounds;
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); i += every) kept.push_back(values[i]);
  return kept;
}

}  // namespace

Estimate find_drift(std::span<const double> log_taus, double confidence) {
  if (log_taus.size() < kRoundsToSpread) return {};
  const std::vector<double> values = thinned(log_taus);
  const auto steps = static_cast<double>(values.size() - 1);
  const Slope slope = theil_sen(values, confidence);
  const auto change = [&](double per_step) { return std::expm1(per_step * steps); };
  return {change(slope.value), Interval{change(slope.interval.low), change(slope.interval.high)}};
}

}  // namespace cachebisect
