// The ring with workers, event by event: they share cores, locks and memory bandwidth.
#pragma once

#include "cachebisect/simulate/cycle_search.hpp"
#include "cachebisect/simulate/ring_run.hpp"
#include "cachebisect/simulate/stage_costs.hpp"

namespace cachebisect {

/// For chains with workers and requests that leave them something to load. `search`, unless null,
/// ends the run when its state recurs.
[[nodiscard]] RingRun run_with_workers(const StageCosts& costs, const RingRequest& request,
                                       CycleSearch* search);

}  // namespace cachebisect
