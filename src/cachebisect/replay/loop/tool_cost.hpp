// What the tool itself costs here: a pipeline of stages that do nothing.
#pragma once

#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

struct ToolCost {
  double seconds_per_sample = 0;  ///< of one worker
  double seconds_per_batch = 0;
};

/// A null pipeline of so many sample stages, the source included, loaded inside the calling thread.
/// Takes about `seconds`. Throws Error(interrupted) on `stop`.
CACHEBISECT_API ToolCost measure_inline_cost(Device& device, std::size_t sample_stages,
                                             double seconds, const std::stop_token& stop);
/// A null pipeline of as many sample stages, with the same batch size and ring and `workers`
/// workers: seconds_per_sample / workers + seconds_per_batch / batch size is what a sample took.
CACHEBISECT_API ToolCost measure_tool_cost(Device& device, const Pipeline& like, int workers,
                                           double seconds, const std::stop_token& stop);

}  // namespace cachebisect
