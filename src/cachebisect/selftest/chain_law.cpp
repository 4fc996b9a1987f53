#include "cachebisect/selftest/chain_law.hpp"

#include <algorithm>

namespace cachebisect::selftest {

Demands chain_law(const SimulatedChain& chain, int boundary) {
  const auto batch = static_cast<double>(chain.batch_size);
  Demands input;
  input.workers = chain.workers;
  input.cores = chain.cores;
  input.step_seconds = chain.step_seconds / batch;
  input.trainer_seconds = chain.trainer_seconds / batch;
  input.cpu_seconds = input.trainer_seconds;
  input.copy_overlaps = chain.copy_overlaps();
  input.copy_blocks = !chain.copy_non_blocking;
  if (boundary < chain.boundaries()) input.copy_seconds = chain.copy_seconds() / batch;
  for (auto s = static_cast<std::size_t>(boundary); s < chain.stages.size(); ++s) {
    const SimulatedStage& stage = chain.stages[s];
    input.live_seconds.push_back(stage.seconds);
    if (stage.kind == CostKind::cpu || stage.kind == CostKind::memory) {
      input.cpu_seconds += stage.seconds;
    }
    if (stage.kind == CostKind::lock) {
      input.serial_seconds = std::max(input.serial_seconds, stage.seconds);
    }
    if (stage.kind == CostKind::memory) input.memory_seconds += stage.seconds;
  }
  if (boundary < chain.collate_boundary()) {
    input.live_seconds.push_back(chain.collate_seconds);
    input.cpu_seconds += chain.collate_seconds;
  }
  return input;
}

}  // namespace cachebisect::selftest
