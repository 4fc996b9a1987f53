// Seconds and inline counters of several blocks together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

struct BlockSums {
  std::vector<StageCounters> stages;
  double seconds = 0;
  double samples = 0;
  double cpu_seconds = 0;
  double trainer_seconds = 0;

  void add(const BlockResult& block) {
    stages.resize(std::max(stages.size(), block.stages.size()));
    for (std::size_t s = 0; s < block.stages.size(); ++s) stages[s] += block.stages[s];
    seconds += block.seconds;
    samples += static_cast<double>(block.samples);
    cpu_seconds += block.cpu_seconds;
    trainer_seconds += block.trainer_seconds;
  }
};

}  // namespace cachebisect
