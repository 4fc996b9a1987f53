// A simulated chain that starves its step, for tests of predictions and of what verifies them.
#pragma once

#include "cachebisect/replay/simulated_replayer.hpp"

namespace cachebisect::test {

/// The crop limits: 500 us a sample over two workers, beside a step of 125 us.
inline SimulatedChain starved_chain() {
  SimulatedChain chain;
  chain.cores = 4;
  chain.stages = {{.name = "read", .category = "read", .kind = CostKind::wait, .seconds = 20e-6},
                  {.name = "decode", .category = "decode", .seconds = 30e-6},
                  {.name = "crop", .category = "augment", .seconds = 0.5e-3},
                  {.name = "flip", .category = "augment", .seconds = 10e-6}};
  return chain;
}

}  // namespace cachebisect::test
