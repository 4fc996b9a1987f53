// The ring where threads want more cores than there are, or where the training thread never waits:
// event by event, the cores shared fairly among all that compute.
#pragma once

#include "cachebisect/simulate/simulated_ring.hpp"

namespace cachebisect {

/// For chains with workers. `ring` must outlive the call.
[[nodiscard]] CACHEBISECT_INTERNAL_API RingRun run_by_events(const SimulatedRing& ring,
                                                             const RingRequest& request);
/// The same, ended as soon as the ring is in a state in which it was before: it goes round for ever
/// then. RingRun::cycle_steps says how many steps that takes.
[[nodiscard]] CACHEBISECT_INTERNAL_API RingRun run_to_cycle(const SimulatedRing& ring,
                                                            const RingRequest& request);

}  // namespace cachebisect
