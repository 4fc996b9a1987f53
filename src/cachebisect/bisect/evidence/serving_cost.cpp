#include "cachebisect/bisect/evidence/serving_cost.hpp"

#include <utility>

namespace cachebisect {

ServingCost::ServingCost(const ChainDescription& chain) {
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    if (chain.stages[s].category == Category::collate) before_collate_ = static_cast<int>(s);
  }
}

void ServingCost::set_lookup(std::vector<double> seconds) {
  lookup_ = std::move(seconds);
  total_ = lookup_;
}

void ServingCost::add(const Arm& arm, const BlockResult& block) {
  const bool replay = arm.kind == ArmKind::replay || arm.kind == ArmKind::null;
  const auto k = static_cast<std::size_t>(before_collate_);
  if (!replay || before_collate_ == 0 || arm.boundary != before_collate_) return;
  for (const StageCounters& stage : block.stages) {
    write_seconds_ += stage.slot_write_seconds;
    writes_ += static_cast<double>(stage.slot_writes);
  }
  if (writes_ > 0 && k < total_.size()) total_[k] = lookup_[k] + write_seconds_ / writes_;
}

}  // namespace cachebisect
