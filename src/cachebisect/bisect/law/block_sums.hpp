// Seconds and inline counters of several blocks together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cachebisect/replay/replayer.hpp"

namespace cachebisect {

struct BlockSums {
  std::vector<InlineCounters> stages;
  double seconds = 0;
  double samples = 0;
  double cpu_seconds = 0;
  double trainer_seconds = 0;

  void add(const BlockResult& block) {
    stages.resize(std::max(stages.size(), block.stages.size()));
    for (std::size_t s = 0; s < block.stages.size(); ++s) {
      stages[s].busy_seconds += block.stages[s].busy_seconds;
      stages[s].cpu_seconds += block.stages[s].cpu_seconds;
      stages[s].serial_seconds += block.stages[s].serial_seconds;
      stages[s].samples += block.stages[s].samples;
    }
    seconds += block.seconds;
    samples += static_cast<double>(block.samples);
    cpu_seconds += block.cpu_seconds;
    trainer_seconds += block.trainer_seconds;
  }
};

}  // namespace cachebisect
