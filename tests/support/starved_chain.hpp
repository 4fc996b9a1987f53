// A simulated chain that starves its step, and its true rate.
#pragma once

#include "cachebisect/simulate/simulated_replayer.hpp"

namespace cachebisect::test {

/// The crop limits: 500 us per sample over two workers, next to a step of 125 us per sample.
inline SimulatedChain starved_chain(double crop_seconds = 0.5e-3) {
  SimulatedChain chain;
  chain.cores = 4;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 20e-6},
      {.name = "decode", .category = Category::decode, .seconds = 30e-6},
      {.name = "crop", .category = Category::augment, .seconds = crop_seconds},
      {.name = "flip", .category = Category::augment, .seconds = 10e-6}};
  return chain;
}

/// Samples per second of the live pipeline, without noise.
inline double rate_of(const SimulatedChain& chain) {
  return 1 / SimulatedRing(chain).seconds_per_sample(0);
}

}  // namespace cachebisect::test
