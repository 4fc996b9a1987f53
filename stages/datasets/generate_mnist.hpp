// A data set in MNIST's files with digit-like strokes, for when the real one is not at hand.
#pragma once

#include <cstdint>
#include <string>

namespace cachebisect::stages {

/// Writes the four IDX files: `samples` for training and a sixth of it for testing; 28x28, 10
/// classes, the same bytes on every run.
void generate_mnist(const std::string& folder, std::uint64_t samples);

}  // namespace cachebisect::stages
