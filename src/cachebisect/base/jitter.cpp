#include "cachebisect/base/jitter.hpp"

#include <cmath>
#include <numbers>

#include "cachebisect/base/quantiles.hpp"

namespace cachebisect {
namespace {

constexpr auto kCells = static_cast<int>(JitterSequence::kPeriod);

double normal_cdf(double z) noexcept { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// Integral of the lognormal quantile (mean 1) from 0 to u.
double lognormal_partial_mean(double cv, double u) noexcept {
  const double sigma = std::sqrt(std::log1p(cv * cv));
  return normal_cdf(normal_quantile(u) - sigma);
}

/// Integral of the Pareto quantile (mean 1) from 0 to u; the shape follows from
/// cv^2 = 1 / (a (a - 2)).
double pareto_partial_mean(double cv, double u) noexcept {
  const double shape = 1 + std::sqrt(1 + 1 / (cv * cv));
  return 1 - std::pow(1 - u, 1 - 1 / shape);
}

double partial_mean(const Jitter& jitter, int cell) noexcept {
  if (cell <= 0) return 0;
  if (cell >= kCells) return 1;
  const double u = static_cast<double>(cell) / kCells;
  return jitter.kind == Jitter::Kind::lognormal ? lognormal_partial_mean(jitter.cv, u)
                                                : pareto_partial_mean(jitter.cv, u);
}

}  // namespace

JitterSequence::JitterSequence(const Jitter& jitter, std::uint64_t stage_hash) noexcept {
  cells_.fill(1);
  if (jitter.kind == Jitter::Kind::none || !(jitter.cv > 0)) return;
  double before = 0;
  for (int cell = 0; cell < kCells; ++cell) {
    const double after = partial_mean(jitter, cell + 1);
    cells_[static_cast<std::size_t>(cell)] = kCells * (after - before);
    before = after;
  }
  constexpr std::array<std::uint64_t, 4> kMultipliers{39, 25, 23, 41};
  multiplier_ = kMultipliers[(stage_hash >> 8) % kMultipliers.size()];
  offset_ = stage_hash % kPeriod;
}

}  // namespace cachebisect
