// Several blocks taken together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cachebisect/protocol/block.hpp"

namespace cachebisect {

/// Sums over blocks.
struct BlockTotals {
  double seconds = 0;
  double samples = 0;
  double cpu_seconds = 0;
  double starved_seconds = 0;
  double trainer_seconds = 0;
  std::vector<StageCounters>
      stages;  ///< one per stage of the chain; empty if no block was observed

  void add(const BlockResult& block) {
    seconds += block.seconds;
    samples += static_cast<double>(block.samples);
    cpu_seconds += block.cpu_seconds;
    starved_seconds += block.starved_seconds;
    trainer_seconds += block.trainer_seconds;
    stages.resize(std::max(stages.size(), block.stages.size()));
    for (std::size_t s = 0; s < block.stages.size(); ++s) stages[s] += block.stages[s];
  }
};

}  // namespace cachebisect
