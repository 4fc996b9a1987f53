// The tracks of a cycle in a trace: training loop, workers, ring, starvation, emulated device.
#pragma once

#include "cachebisect/format/trace_events.hpp"
#include "cachebisect/profile/cycle.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect::profile {

/// Names the tracks, once per trace. A script has those of its loader alone: LibTorch's trace shows
/// its training thread.
void name_tracks(TraceEvents& trace, const ChainDescription& chain);
void add_tracks(TraceEvents& trace, const Cycle& cycle, const ChainDescription& chain);

}  // namespace cachebisect::profile
