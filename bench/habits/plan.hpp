// The truth of a chain whose costs are planned: a long run of its ring in virtual time.
#pragma once

#include "bench/habits/chain.hpp"
#include "bench/habits/truth.hpp"

namespace cachebisect::habits {

/// The share of the step's throughput that the live loop loses in the long run.
double planned_loss(const HabitChain& chain);
/// The truth of a chain that need not be measured. If its cost changes, the intervals hold the
/// drops before and after.
HabitTruth plan_truth(const HabitChain& chain);

}  // namespace cachebisect::habits
