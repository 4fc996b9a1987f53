// The chain as reports see it.
#pragma once

#include <span>

#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

struct RunningChain {
  int workers = 0;
  int ring_slots = 0;
  bool weights_restored = false;
  std::span<const double> item_bytes;  ///< by boundary; empty before the caches are filled
};

ChainDescription describe_chain(const Pipeline& pipeline, const Device& device,
                                const TrainStep& step, const RunningChain& running);

}  // namespace cachebisect
