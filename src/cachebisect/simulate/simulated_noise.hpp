// Noise from outside for a simulated machine: factors on a block's seconds, by when it ran and by
// what ran in it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"

namespace cachebisect {

/// Any of these together; the default is silence.
struct SimulatedNoise {
  double white_cv = 0;  ///< lognormal, each block by itself
  double drift = 0;     ///< factor 1 + drift * (1 - cos(2 pi t / period)) / 2
  double drift_period_seconds = 20;
  double step_seconds = 0;  ///< from then on everything takes step_factor; 0: never
  double step_factor = 1;
  double burst_probability = 0;  ///< of a block to meet a stall, exponential with this mean
  double burst_seconds = 0;
  int burst_stage = 0;  ///< only blocks in which this stage (1-based) runs live; 0: all blocks
  /// Recorded slowdown over time: factor i holds for trace_seconds; runs round, from a start that
  /// the seed draws.
  std::vector<double> trace{};
  double trace_seconds = 0.02;
};

class CACHEBISECT_INTERNAL_API NoiseModel {
 public:
  NoiseModel(SimulatedNoise noise, std::uint64_t seed);

  /// What a block of `quiet_seconds` that starts at `start` and replays at `boundary` really takes,
  /// over quiet_seconds.
  [[nodiscard]] double factor(double start, double quiet_seconds, int boundary);

 private:
  [[nodiscard]] double trace_mean(double start, double seconds) const;

  SimulatedNoise noise_;
  RandomStream random_;
  double phase_ = 0;
  double trace_start_ = 0;
  std::vector<double> trace_sums_;  ///< of trace[0..i)
};

}  // namespace cachebisect
