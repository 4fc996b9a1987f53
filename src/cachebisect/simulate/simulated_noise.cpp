#include "cachebisect/simulate/simulated_noise.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace cachebisect {

NoiseModel::NoiseModel(SimulatedNoise noise, std::uint64_t seed)
    : noise_(std::move(noise)),
      random_({.seed = seed, .stage = hash_name("noise")}),
      phase_(random_.uniform()),
      trace_start_(random_.uniform()),
      trace_sums_{0} {
  for (const double value : noise_.trace) trace_sums_.push_back(trace_sums_.back() + value);
}

double NoiseModel::trace_mean(double start, double seconds) const {
  const auto count = static_cast<double>(noise_.trace.size());
  // Integral of the repeated trace up to `place` cells.
  const auto integral = [&](double place) {
    const double rounds = std::floor(place / count);
    const double rest = place - rounds * count;
    const auto cell = std::min(static_cast<std::size_t>(rest), noise_.trace.size() - 1);
    return rounds * trace_sums_.back() + trace_sums_[cell] +
           (rest - static_cast<double>(cell)) * noise_.trace[cell];
  };
  const double from = trace_start_ * count + start / noise_.trace_seconds;
  const double width = std::max(1e-9, seconds / noise_.trace_seconds);
  return (integral(from + width) - integral(from)) / width;
}

double NoiseModel::lognormal(double cv) {
  return std::exp(std::sqrt(std::log1p(cv * cv)) * random_.normal());
}

double NoiseModel::factor(double start, double quiet_seconds, int boundary) {
  double factor = 1;
  if (noise_.white_cv > 0) factor *= lognormal(noise_.white_cv);
  if (noise_.live_cv > 0 && boundary == 0) factor *= lognormal(noise_.live_cv);
  if (noise_.drift != 0) {
    const double turn = phase_ + start / noise_.drift_period_seconds;
    factor *= 1 + noise_.drift * (1 - std::cos(2 * std::numbers::pi * turn)) / 2;
  }
  if (noise_.step_seconds > 0 && start >= noise_.step_seconds) factor *= noise_.step_factor;
  if (!noise_.trace.empty()) factor *= trace_mean(start, quiet_seconds);
  const bool exposed = noise_.burst_stage == 0 || noise_.burst_stage > boundary;
  if (noise_.burst_probability > 0 && exposed && random_.uniform() < noise_.burst_probability) {
    factor += -std::log(1 - random_.uniform()) * noise_.burst_seconds / quiet_seconds;
  }
  return factor;
}

double NoiseModel::carried_seconds(int boundary, double from, double until) const {
  if (!last_boundary_ || *last_boundary_ >= boundary) return 0;
  const double tau = noise_.carried_tau_seconds;
  return noise_.carried * tau * (std::exp(-from / tau) - std::exp(-until / tau));
}

}  // namespace cachebisect
