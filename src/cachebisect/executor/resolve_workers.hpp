// How many workers "auto" means for a pipeline on this machine.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// Tries several counts on the live pipeline without its training step, 0.1 s each, and returns the
/// smallest within 3% of the best. Every trial reads the next samples of `order`. Throws what the
/// pipeline throws.
CACHEBISECT_INTERNAL_API int resolve_workers(const Pipeline& pipeline, Device& device,
                                             LiveOrder& order);

}  // namespace cachebisect
