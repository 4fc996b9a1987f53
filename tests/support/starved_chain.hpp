// A simulated chain that starves its step, and its true rate.
#pragma once

#include <cstdint>
#include <functional>

#include "cachebisect/simulate/simulated_replayer.hpp"

namespace cachebisect::test {

/// Seconds of a microsecond.
inline constexpr double kMicro = 1e-6;

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

/// One of `every` samples takes `slow` times the mean cost.
inline std::function<double(std::uint64_t)> rarely(std::uint64_t every, double slow) {
  const auto count = static_cast<double>(every);
  return
      [=](std::uint64_t index) { return index % every == 0 ? slow : (count - slow) / (count - 1); };
}

/// Samples per second of the live pipeline, without noise.
inline double rate_of(const SimulatedChain& chain) {
  return 1 / SimulatedRing(chain).seconds_per_sample(0);
}

}  // namespace cachebisect::test
