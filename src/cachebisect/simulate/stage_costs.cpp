#include "cachebisect/simulate/stage_costs.hpp"

#include <utility>

#include "cachebisect/base/random.hpp"

namespace cachebisect {

StageCosts::StageCosts(SimulatedChain chain) : chain_(std::move(chain)) {
  (void)describe(chain_);
  for (const auto& stage : chain_.stages) {
    // The same sequence as the synthetic stages, so that a sample costs the same in real time.
    jitter_.emplace_back(stage.jitter, 0);
    jitter_offsets_.push_back(hash_name(stage.name) >> 8);
    const bool steady = stage.jitter.kind == Jitter::Kind::none || stage.jitter.cv <= 0;
    constant_ = constant_ && steady && !stage.factor;
    periodic_ = periodic_ && !stage.factor;
  }
}

double StageCosts::collate_seconds(const RingRequest& request) const noexcept {
  if (request.bypass == chain_.collate_boundary()) return 0;
  return chain_.collate_seconds * static_cast<double>(chain_.batch_size);
}

}  // namespace cachebisect
