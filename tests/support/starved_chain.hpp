// A simulated chain that starves its step, for tests of predictions and of what verifies them.
#pragma once

#include "cachebisect/simulate/simulated_replayer.hpp"

namespace cachebisect::test {

/// The crop limits: 500 us a sample over two workers, beside a step of 125 us.
inline SimulatedChain starved_chain() {
  SimulatedChain chain;
  chain.cores = 4;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 20e-6},
      {.name = "decode", .category = Category::decode, .seconds = 30e-6},
      {.name = "crop", .category = Category::augment, .seconds = 0.5e-3},
      {.name = "flip", .category = Category::augment, .seconds = 10e-6}};
  return chain;
}

}  // namespace cachebisect::test
