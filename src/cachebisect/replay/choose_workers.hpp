// How many workers "auto" means: measured with the training step in the loop.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/worker_search.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

/// search_workers() over the live loop of `pipeline`. `step_for` gives the step to train with so
/// many workers; its weights are restored afterwards. Every block reads the next samples of
/// `order`, the order of `pipeline`. Throws what pipeline and step throw, and Error(interrupted) on
/// `stop`.
[[nodiscard]] CACHEBISECT_INTERNAL_API WorkerChoice
choose_workers(const Pipeline& pipeline, const std::shared_ptr<Device>& device,
               const std::function<std::shared_ptr<TrainStep>(int workers)>& step_for,
               const LiveOrder& order, const std::stop_token& stop);

}  // namespace cachebisect
