// Where the batches of a block's steps come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cachebisect/data/batch.hpp"
#include "cachebisect/executor/executor.hpp"

namespace cachebisect {

struct StepSource {
  /// Runs; the caller halts or suspends it afterwards. Null: all batches come from the cache.
  Executor* loader = nullptr;
  /// Batches that replace the output of boundary `boundary`, which is on the device: the loader's
  /// go through the stages before that one and are dropped. Empty: live.
  std::span<const DeviceBatch> cached{};
  std::size_t boundary = 0;
  std::uint64_t first = 0;  ///< cached[first % size] is the first
  /// The loop never waits for the loader: at each step it takes one batch that is ready, sends it
  /// through copy and all device stages, and drops it. Needs cached batches.
  bool paced = false;
};

}  // namespace cachebisect
