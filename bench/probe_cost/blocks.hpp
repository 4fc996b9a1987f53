// Blocks of one pipeline with and without inline observation.
#pragma once

#include <functional>
#include <memory>

#include "cachebisect/executor/executor.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::probe_cost {

struct BlockCost {
  double seconds = 0;      ///< a sample, from the end of the untimed steps
  double cpu_seconds = 0;  ///< a sample, of all threads: all of the block over what it delivered
  double observing_seconds = 0;  ///< a sample, as the loader reckons; of loading alone
};

/// Runs one block as long as the bisector's own, 40 ms or three steps.
using BlockFunction = std::function<BlockCost(bool observed)>;

/// Live blocks of the bisector's own arms. Keeps a reference.
BlockFunction replay_blocks(Replayer& replayer);
/// Loading alone, by an executor with its own observation budget, which it keeps.
BlockFunction loader_blocks(std::shared_ptr<Executor> loader);

}  // namespace cachebisect::probe_cost
