// Chains whose training step computes on the cores that the workers want. No law is exact there:
// truth is a long exhaustive measurement, and has intervals of its own.
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

/// Workers + threads of the step > cores.
struct ContentionChain {
  selftest::PlantedChain planted;  ///< without a truth
  std::string json;                ///< the pipeline file, on the cpu device
  int threads = 1;                 ///< of the training step
  double step_seconds = 0;         ///< CPU of each of them, a step; not with a LibTorch model
  bool model = false;              ///< the step is a LibTorch model's
};

/// Equal arguments give equal chains. `model`: a LibTorch network on generated digits.
ContentionChain draw_contention(std::uint64_t seed, int cores, bool model);

/// A training step that burns so much CPU on each of `threads` threads.
std::shared_ptr<TrainStep> make_burning_step(int threads, double seconds);

}  // namespace cachebisect::truth
