#include "cachebisect/bisect/evidence/own_seconds.hpp"

#include <algorithm>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {}  // namespace

bool is_crowded(const BlockResult& block, double cores) noexcept {
  return block.cpu_seconds > kCrowded * cores * block.seconds;
}

std::vector<OwnSeconds> own_seconds(const BlockResult& block, const ChainDescription& chain,
                                    double cores) {
  std::vector<OwnSeconds> own(chain.stages.size());
  const bool crowded = is_crowded(block, cores);
  for (std::size_t s = 0; s < std::min(own.size(), block.stages.size()); ++s) {
    const StageCounters& stage = block.stages[s];
    if (stage.samples == 0 || chain.stages[s].held == Held::device) continue;
    const auto samples = static_cast<double>(stage.samples);
    const bool queues = stage.serial_seconds > 0 && chain.stages[s].category != Category::pin;
    const double busy = queues ? stage.serial_seconds : stage.busy_seconds;
    own[s].cpu = stage.cpu_seconds / samples;
    own[s].busy = std::max(own[s].cpu, busy / samples);
    own[s].all = crowded ? own[s].cpu : own[s].busy;
  }
  return own;
}

}  // namespace cachebisect
