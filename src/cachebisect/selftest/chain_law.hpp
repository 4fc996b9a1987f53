// The law's input for a planted chain replayed at a boundary.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/demands.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect::selftest {

CACHEBISECT_INTERNAL_API Demands chain_law(const SimulatedChain& chain, int boundary);

}  // namespace cachebisect::selftest
