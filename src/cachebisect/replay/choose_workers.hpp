// How many workers "auto" means: measured with the training step in the loop.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

struct WorkerChoice {
  int workers = 1;
  WorkerSearch search;
};

/// Runs the live loop with 1, 2, 4, ... workers in short blocks, each count in turns with its
/// double, for as long as the double is more than 3% faster: beyond the number of cores too,
/// because workers that wait need none. Returns the first count that its double does not beat.
/// `step_for` gives the step to train with so many workers; its weights are restored afterwards.
/// Every block reads the next samples of `order`, the order of `pipeline`. Throws what pipeline and
/// step throw, and Error(interrupted) on `stop`.
[[nodiscard]] CACHEBISECT_INTERNAL_API WorkerChoice
choose_workers(const Pipeline& pipeline, const std::shared_ptr<Device>& device,
               const std::function<std::shared_ptr<TrainStep>(int workers)>& step_for,
               const LiveOrder& order, const std::stop_token& stop);

}  // namespace cachebisect
