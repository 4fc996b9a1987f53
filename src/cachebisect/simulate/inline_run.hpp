// Runs without workers: the training thread loads each batch itself, or takes it from a cache.
#pragma once

#include "cachebisect/simulate/ring_run.hpp"
#include "cachebisect/simulate/stage_costs.hpp"

namespace cachebisect {

/// For a request that leaves workers nothing to do, and for chains without workers.
[[nodiscard]] RingRun run_inline(const StageCosts& costs, const RingRequest& request);

}  // namespace cachebisect
