// Noise of a simulated machine: factors on the seconds of a block.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"

namespace cachebisect {

/// All of these act together; the default is no noise.
struct SimulatedNoise {
  double white_cv = 0;  ///< lognormal, independent for each block
  double live_cv = 0;   ///< the same, for blocks of live alone
  double drift = 0;     ///< factor 1 + drift * (1 - cos(2 pi t / period)) / 2
  double drift_period_seconds = 20;
  double step_seconds = 0;  ///< from then on, factor step_factor; 0: never
  double step_factor = 1;
  double burst_probability = 0;  ///< that a block meets a stall
  double burst_seconds = 0;      ///< mean of a stall, exponential
  int burst_stage = 0;  ///< only blocks in which this stage (1-based) runs live; 0: all blocks
  /// A block is slower by this share at its beginning, and by exp(-t / carried_tau_seconds) of it
  /// later, if more stages ran live in the block before: they left caches cold.
  double carried = 0;
  double carried_tau_seconds = 5e-3;
  /// Recorded slowdown over time: factor i holds for trace_seconds. It repeats, from a start that
  /// the seed draws.
  std::vector<double> trace{};
  double trace_seconds = 0.02;
};

class CACHEBISECT_INTERNAL_API NoiseModel {
 public:
  NoiseModel(SimulatedNoise noise, std::uint64_t seed);

  /// Factor on the duration of a block that starts at `start`, would take `quiet_seconds` without
  /// noise, and replays at `boundary`.
  [[nodiscard]] double factor(double start, double quiet_seconds, int boundary);
  /// Seconds by which the block before makes one that replays at `boundary` longer, between two
  /// times from its beginning.
  [[nodiscard]] double carried_seconds(int boundary, double from, double until) const;
  /// The next block follows one that replayed at `boundary`.
  void end_block(int boundary) noexcept { last_boundary_ = boundary; }

 private:
  [[nodiscard]] double lognormal(double cv);
  [[nodiscard]] double trace_mean(double start, double seconds) const;

  SimulatedNoise noise_;
  RandomStream random_;
  double phase_ = 0;
  double trace_start_ = 0;
  std::vector<double> trace_sums_;  ///< of trace[0..i)
  std::optional<int> last_boundary_;
};

}  // namespace cachebisect
