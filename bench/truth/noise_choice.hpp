// Noise for simulated runs by name, and recorded noise from files.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "cachebisect/simulate/simulated_noise.hpp"

namespace cachebisect::truth {

/// Seconds that a factor of a trace file holds.
inline constexpr double kTraceCellSeconds = 0.02;

/// "none", "white", "drift", "step", "burst", "burst-one-arm" or "trace"; `white_cv` is in all of
/// them but "none". Throws Error(usage) for another name, and for "trace" without a trace.
SimulatedNoise noise_by_name(const std::string& name, double white_cv, std::vector<double> trace);

/// A trace file: one factor a line for each cell of 20 ms, '#' begins a comment; or a raw recording
/// (see factors_of). Throws Error(usage) for a file that is neither.
std::vector<double> load_trace(const std::string& file);

/// A raw recording has three numbers a line: thread, start in s, seconds that one and the same
/// piece of work took. A cell's factor is the quiet time of the work over the time that it took
/// there, inverted: 1 at the speed that 5% of all pieces exceed. All threads count alike.
std::vector<double> factors_of(std::istream& recording);

}  // namespace cachebisect::truth
