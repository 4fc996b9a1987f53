#include "bench/habits/stages/sample_costs.hpp"

#include <cmath>
#include <numbers>

#include "cachebisect/base/quantiles.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/shuffle.hpp"

namespace cachebisect::habits {
namespace {

/// Integral of the lognormal quantile (mean 1) from 0 to u.
double partial_mean(double sigma, double u) {
  if (u <= 0) return 0;
  if (u >= 1) return 1;
  return 0.5 * std::erfc(-(normal_quantile(u) - sigma) / std::numbers::sqrt2);
}

}  // namespace

ContentFactors::ContentFactors(double cv, std::uint64_t variant) : factors_(kPeriod, 1.0) {
  if (cv <= 0) return;
  const double sigma = std::sqrt(std::log1p(cv * cv));
  double before = 0;
  for (std::size_t cell = 0; cell < kPeriod; ++cell) {
    const double after = partial_mean(sigma, static_cast<double>(cell + 1) / kPeriod);
    factors_[cell] = kPeriod * (after - before);
    before = after;
  }
  RandomStream random({.seed = variant, .stage = hash_name("content")});
  shuffle(factors_, random);
}

bool is_chosen(std::uint64_t index, double share, std::uint64_t variant) noexcept {
  RandomStream random({.seed = variant, .index = index, .stage = hash_name("chosen")});
  return random.uniform() < share;
}

}  // namespace cachebisect::habits
