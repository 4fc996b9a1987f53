// A chain drawn at random, before its truth is known.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/random.hpp"
#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/selftest/planted_chain.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect::selftest {

struct DrawnChain {
  SimulatedChain chain;
  Pattern shape = Pattern::flat;
  std::string planted;  ///< as in Truth
};

/// Draws a shape and a chain, and plants the shape by the law; empty if it does not fit the chain.
[[nodiscard]] std::optional<DrawnChain> draw_chain(RandomStream& random,
                                                   const DrawOptions& options);

}  // namespace cachebisect::selftest
