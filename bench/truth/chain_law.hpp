// The law's input for a planted chain replayed at a boundary.
#pragma once

#include "cachebisect/bisect/law.hpp"
#include "cachebisect/replay/simulated_chain.hpp"

namespace cachebisect::truth {

LawInput chain_law(const SimulatedChain& chain, int boundary);

}  // namespace cachebisect::truth
