#include "cachebisect/bisect/costs/prior.hpp"

#include <algorithm>

#include "cachebisect/bisect/costs/counted_cost.hpp"

namespace cachebisect {
namespace {

/// Costs as one block shows them: waiting for locks and cores is still in them, and device stages
/// are part of the ceiling.
CostModel rough_costs(const ChainDescription& chain, const BlockResult& live, double ceiling) {
  CostModel costs;
  costs.workers = chain.workers;
  costs.cores = std::max(1, chain.workers + 1);
  costs.copy_overlaps =
      chain.copy_prefetch >= 1 && chain.copy_pinned && chain.copy_non_blocking.value_or(false);
  (chain.device_kind == DeviceKind::cpu ? costs.trainer_seconds : costs.step_seconds) = ceiling;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    costs.stages.push_back(counted_cost(chain.stages[s].category, live.stages[s]));
  }
  return costs;
}

}  // namespace

std::vector<double> expected_seconds(const ChainDescription& chain, const BlockResult& live,
                                     double ceiling) {
  const std::size_t n = chain.stages.size();
  if (live.stages.size() != n) return {};
  const CostModel costs = rough_costs(chain, live, ceiling);
  std::vector<double> expected(n + 1, ceiling);
  for (std::size_t s = n; s-- > 0;) {
    const Demands demands = demands_of(costs, {}, static_cast<int>(s));
    expected[s] = std::max(expected[s + 1], predicted_seconds_per_sample(demands));
  }
  return expected;
}

}  // namespace cachebisect
