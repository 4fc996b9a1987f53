// Blocks of one pipeline with and without inline observation.
#pragma once

#include <functional>
#include <memory>

#include "cachebisect/executor/executor.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::probe_cost {

struct BlockCost {
  double seconds = 0;            ///< per sample of the timed steps
  double cpu_seconds = 0;        ///< per sample of the whole block, of all threads
  double observing_seconds = 0;  ///< per sample, as estimated by the loader; 0 for replay_blocks()
};

/// Runs one block as long as the bisector's: 40 ms, but at least three steps.
using BlockFunction = std::function<BlockCost(bool observed)>;

/// Live blocks, as the bisector runs them. Keeps a reference.
BlockFunction replay_blocks(Replayer& replayer);
/// Blocks of loading alone, with the observation budget of `loader`.
BlockFunction loader_blocks(std::shared_ptr<Executor> loader);

}  // namespace cachebisect::probe_cost
