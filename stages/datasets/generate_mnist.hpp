// Generates a data set in MNIST's format, for use without the real one: digit-like strokes.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

namespace cachebisect::stages {

/// Writes the four IDX files: `samples` for training and a sixth as many for testing; 28x28, 10
/// classes, the same bytes on every run. Throws Error(interrupted) on `stop`.
void generate_mnist(const std::string& folder, std::uint64_t samples, const std::stop_token& stop);

}  // namespace cachebisect::stages
