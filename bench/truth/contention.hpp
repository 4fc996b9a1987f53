// Chains whose training step competes with the workers for cores. The law is not exact for them:
// their truth is a long measurement, with intervals.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/selftest/planted_chain.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect::truth {

/// It has more workers and threads of the step than cores.
struct ContentionChain {
  selftest::PlantedChain planted;  ///< without a truth
  std::string json;                ///< the pipeline file, on the cpu device
  int threads = 1;                 ///< of the training step
  double step_seconds = 0;         ///< CPU seconds of each thread per step; unused with a model
  bool model = false;              ///< the step trains a LibTorch model
};

/// Equal arguments give equal chains. `model`: train a LibTorch network on generated digits.
ContentionChain draw_contention(std::uint64_t seed, int cores, bool model);

/// A training step that burns `seconds` of CPU on each of `threads` threads.
std::shared_ptr<TrainStep> make_burning_step(int threads, double seconds);

}  // namespace cachebisect::truth
