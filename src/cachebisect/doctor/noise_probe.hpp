// How much equal blocks of a small but real pipeline differ on this machine.
#pragma once

#include <stop_token>
#include <vector>

#include "cachebisect/base/machine_watch.hpp"

namespace cachebisect {

struct NoiseTrace {
  std::vector<double> block_taus;   ///< seconds a sample, of all blocks
  std::vector<double> differences;  ///< log ratios of neighbouring blocks, pair by pair
  double block_seconds = 0;         ///< mean, warm-up and all
};

/// Replays a pipeline of reading, waiting, work on as many workers as there are usable CPUs (at
/// most four), collate and copy in front of an emulated step, live, for about `seconds` and at
/// least one pair. `watch` is given a reading at the start, every half second and at the end.
/// Throws Error(interrupted) on `stop`.
NoiseTrace measure_noise(double seconds, double usable_cpus, MachineWatch& watch,
                         const std::stop_token& stop);

}  // namespace cachebisect
