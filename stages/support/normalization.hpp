// The parameters mean and std, shared by augment.normalize and device.normalize.
#pragma once

#include <vector>

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// (value - mean) / std per channel; a single entry serves all channels.
struct Normalization {
  std::vector<float> mean;
  std::vector<float> std;

  [[nodiscard]] std::size_t entries() const noexcept { return mean.size(); }
};

std::vector<ParamSpec> normalization_params();
/// Throws Error(usage) when the lists differ in length.
Normalization normalization_of(const Params& params);

}  // namespace cachebisect::stages
