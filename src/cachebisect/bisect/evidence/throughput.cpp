#include "cachebisect/bisect/evidence/throughput.hpp"

#include <algorithm>
#include <vector>

#include "cachebisect/bisect/evidence/arm_ratio.hpp"

namespace cachebisect {

Estimate throughput(const RoundTable& rounds, int arm, double confidence) {
  Estimate estimate;
  if (!rounds.visited(arm)) return estimate;
  estimate.value = 1 / rounds.tau(arm);
  std::vector<double> rates = rounds.block_taus(arm);
  for (double& rate : rates) rate = 1 / rate;
  estimate.interval = median_interval(rates, confidence);
  if (estimate.interval) {
    estimate.interval->low = std::min(estimate.interval->low, *estimate.value);
    estimate.interval->high = std::max(estimate.interval->high, *estimate.value);
  }
  return estimate;
}

Estimate paired_throughput(const RoundTable& rounds, int arm, double confidence) {
  if (!rounds.visited(arm)) return {};
  const double alpha = (1 - confidence) / 2;
  const auto by = [&](int anchor) {
    return scaled(ratio_of(log_ratio(rounds, anchor, arm, alpha)), 1 / rounds.tau(anchor));
  };
  Estimate estimate = narrower(by(rounds.last()), by(0));
  return estimate.interval ? estimate : Estimate{};
}

}  // namespace cachebisect
