// The law's input for a planted chain.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/demands.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect::selftest {

/// The demands of the chain replayed at `boundary`.
CACHEBISECT_INTERNAL_API Demands chain_law(const SimulatedChain& chain, int boundary);

}  // namespace cachebisect::selftest
