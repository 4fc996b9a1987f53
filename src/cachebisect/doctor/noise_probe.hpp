// Measures how much equal blocks of a small but real pipeline differ on this machine.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/machine_watch.hpp"

namespace cachebisect {

struct NoiseTrace {
  std::vector<double> block_taus;   ///< seconds per sample, of all blocks
  std::vector<double> differences;  ///< log ratio of the two blocks of each pair
  double block_seconds = 0;         ///< mean, including warm-up
};

/// Runs a live pipeline of a read, a wait, a work stage, collate, copy and an emulated step, with
/// one worker per usable CPU (at most four), for about `seconds` and at least one pair. The step
/// runs on the device of this name: "emulated" or "cuda[:N]". Adds a
/// reading to `watch` at the start, every half second and at the end. Throws Error(interrupted) on
/// `stop`.
NoiseTrace measure_noise(double seconds, double usable_cpus, const std::string& device,
                         MachineWatch& watch, const std::stop_token& stop);

}  // namespace cachebisect
