// Noise for simulated runs by name, and recorded noise from files.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "cachebisect/simulate/simulated_noise.hpp"

namespace cachebisect::truth {

/// Seconds that one factor of a trace file covers.
inline constexpr double kTraceCellSeconds = 0.02;

/// "none", "white", "drift", "step", "burst", "burst-one-arm" or "trace"; `white_cv` applies
/// to all of them but "none". Throws Error(usage) for any other name, and for "trace" without a
/// trace.
SimulatedNoise noise_by_name(const std::string& name, double white_cv, std::vector<double> trace);

/// Reads a trace file (one factor per line and cell of 20 ms; '#' begins a comment) or a raw
/// recording (see factors_of). Throws Error(usage) for a file that is neither.
std::vector<double> load_trace(const std::string& file);

/// The factors of a raw recording: three numbers per line, which are thread, start in s, and the
/// seconds that always the same piece of work took. A cell's factor is the mean time of a piece in
/// it over the quiet time, which 5% of all pieces stay below. All threads count alike.
std::vector<double> factors_of(std::istream& recording);

}  // namespace cachebisect::truth
