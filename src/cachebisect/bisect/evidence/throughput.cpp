#include "cachebisect/bisect/evidence/throughput.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cachebisect {

Estimate throughput(const RoundTable& rounds, int arm, double confidence) {
  Estimate estimate;
  if (!rounds.visited(arm)) return estimate;
  estimate.value = 1 / rounds.tau(arm);
  std::vector<double> rates = rounds.block_taus(arm);
  for (double& rate : rates) rate = 1 / rate;
  estimate.interval = typical_interval(rates, confidence);
  if (estimate.interval) {
    estimate.interval->low = std::min(estimate.interval->low, *estimate.value);
    estimate.interval->high = std::max(estimate.interval->high, *estimate.value);
  }
  return estimate;
}

Estimate anchored_throughput(const LogRatio& ratio, const RoundTable& rounds, int anchor,
                             double confidence) {
  const double anchor_log = -std::log(rounds.tau(anchor));
  Estimate estimate{std::exp(anchor_log + ratio.value), std::nullopt};
  const std::vector<double> taus = rounds.all_block_taus(anchor);
  const auto of_anchor = mean_interval(taus, confidence);
  if (!ratio.interval || !of_anchor) return estimate;
  const double error = (of_anchor->high - of_anchor->low) / 2 / mean(taus);
  const double below = std::hypot(ratio.value - ratio.interval->low, error);
  const double above = std::hypot(ratio.interval->high - ratio.value, error);
  estimate.interval =
      Interval{*estimate.value * std::exp(-below), *estimate.value * std::exp(above)};
  return estimate;
}

Estimate paired_throughput(const RoundTable& rounds, int arm, double confidence) {
  if (!rounds.visited(arm)) return {};
  const auto by = [&](int anchor, double share) {
    const LogRatio ratio = log_ratio(rounds, anchor, arm, share * (1 - confidence));
    return scaled(ratio_of(ratio), 1 / rounds.tau(anchor));
  };
  Estimate estimate = narrower(by(rounds.last(), kMainShare), by(0, 1 - kMainShare));
  return estimate.interval ? estimate : Estimate{};
}

}  // namespace cachebisect
