// The parameters mean and std, shared by augment.normalize and device.normalize.
#pragma once

#include <vector>

#include "cachebisect/data/field.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// (value - mean) / std a channel; one entry serves all channels.
struct Normalization {
  std::vector<float> mean;
  std::vector<float> std;

  [[nodiscard]] std::size_t entries() const noexcept { return mean.size(); }
};

std::vector<ParamSpec> normalization_params();
/// Throws Error(usage) when the lists differ in length.
Normalization normalization_of(const Params& params);
/// Throws Error(usage) when there is neither one entry nor one a channel.
void require_channels(const Normalization& normalization, const FieldSpec& field,
                      std::int64_t channels);

}  // namespace cachebisect::stages
