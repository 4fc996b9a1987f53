// The tool's own cost on this machine, measured with a pipeline of stages that do nothing.
#pragma once

#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

struct ToolCost {
  double seconds_per_sample = 0;  ///< in one worker
  double seconds_per_batch = 0;
};

/// Cost of a null pipeline of `sample_stages` (including the source), loaded inside the calling
/// thread. Takes about `seconds`. Throws Error(interrupted) on `stop`.
CACHEBISECT_INTERNAL_API ToolCost measure_inline_cost(Device& device, std::size_t sample_stages,
                                                      double seconds, const std::stop_token& stop);
/// Cost of a null pipeline with as many sample stages, the same batch size and ring, and `workers`
/// workers: a sample took seconds_per_sample / workers + seconds_per_batch / batch size.
CACHEBISECT_INTERNAL_API ToolCost measure_tool_cost(Device& device, const Pipeline& like,
                                                    int workers, double seconds,
                                                    const std::stop_token& stop);

}  // namespace cachebisect
