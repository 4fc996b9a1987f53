// Chains whose training step computes on the cores that the workers want. No law is exact there:
// truth is a long exhaustive measurement, and has intervals of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/api/selftest/planted_chain.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/replay/replayer.hpp"
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

/// Drops are those of the median round, intervals at 99% of that median by order statistics.
struct ExhaustiveTruth {
  selftest::Truth truth;
  std::vector<Interval> drop_intervals;  ///< by stage
  Interval loss_interval;
  std::optional<double> contention;  ///< none where the replayer has no shadow arm
  Interval contention_interval;
  int rounds = 0;
};

/// All boundaries and the shadow in rounds of random order until `seconds` have passed, at least 10
/// rounds. The replayer must be prepared.
ExhaustiveTruth measure_exhaustively(Replayer& replayer, double seconds, std::uint64_t seed);

}  // namespace cachebisect::truth
