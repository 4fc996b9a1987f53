// What the counters of a stage say about its costs.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/protocol/kinds.hpp"
#include "cachebisect/protocol/stage_counters.hpp"

namespace cachebisect {

/// Costs of a stage on the host or of a copy, each with the thread that pays it. Waiting for locks
/// and cores is still in them. Zero if no sample was counted, and for device stages.
[[nodiscard]] CACHEBISECT_INTERNAL_API StageCost counted_cost(Category category,
                                                              const StageCounters& counters);

}  // namespace cachebisect
