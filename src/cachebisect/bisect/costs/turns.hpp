// A training thread that computes and workers that do: what they lose by sharing the cores.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/bisect/costs/demands.hpp"

namespace cachebisect {

/// Seconds per sample if a training thread and workers that compute need more cores than there are:
/// at worst they take turns. The law's seconds if there are enough cores.
///
/// Threads of a step meet after each of its loops, and wait for each other without leaving their
/// cores: while a worker computes on one of these, the step stands still. As long as workers keep
/// up with the step all the same, they do so one after the other, however many they are. Where the
/// step waits for them, they load at the same time.
[[nodiscard]] CACHEBISECT_INTERNAL_API double seconds_in_turns(const Demands& in);

/// The share that such threads may lose beyond that: each turn finds its caches cold.
[[nodiscard]] CACHEBISECT_INTERNAL_API double share_lost_to_switches(const Demands& in);

/// The share, 0 to 1, of that cost that the live pipeline pays; 0 if it pays next to nothing in any
/// case. Without workers nothing takes turns yet: the first of them does with all threads of the
/// step.
[[nodiscard]] CACHEBISECT_INTERNAL_API double share_in_turns(const CostModel& costs,
                                                             double samples_per_second);

}  // namespace cachebisect
