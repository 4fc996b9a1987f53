#include "cachebisect/bisect/costs/prior.hpp"

#include <algorithm>

#include "cachebisect/bisect/costs/law.hpp"

namespace cachebisect {
namespace {

double per_sample(double seconds, const StageCounters& counters) {
  return counters.samples > 0 ? seconds / static_cast<double>(counters.samples) : 0;
}

LawInput behind_host(const ChainDescription& chain, double ceiling) {
  LawInput input;
  input.workers = chain.workers;
  input.cores = std::max(1, chain.workers + 1);
  input.copy_overlaps = chain.copy_prefetch >= 1 && chain.copy_pinned && chain.copy_non_blocking;
  (chain.device_kind == DeviceKind::cpu ? input.trainer_seconds : input.step_seconds) = ceiling;
  return input;
}

}  // namespace

std::vector<double> expected_seconds(const ChainDescription& chain, const BlockResult& live,
                                     double ceiling) {
  const std::size_t n = chain.stages.size();
  if (live.stages.size() != n) return {};
  LawInput input = behind_host(chain, ceiling);
  std::vector<double> expected(n + 1, ceiling);
  for (std::size_t s = n; s-- > 0;) {
    const StageCounters& counters = live.stages[s];
    const double busy = per_sample(counters.busy_seconds, counters);
    const bool device = chain.stages[s].category == Category::device;
    if (chain.stages[s].category == Category::copy) {
      input.copy_seconds = busy;
    } else if (!device) {
      input.live_seconds.push_back(busy);
      input.serial_seconds =
          std::max(input.serial_seconds, per_sample(counters.serial_seconds, counters));
    }
    expected[s] = std::max(expected[s + 1], predicted_seconds_per_sample(input));
  }
  return expected;
}

}  // namespace cachebisect
