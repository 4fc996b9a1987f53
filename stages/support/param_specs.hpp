// Parameters that several stages share: declarations, and values read from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stages/kernels/range.hpp"
#include "stages/kernels/resize.hpp"

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// The largest side of an output image, in pixels.
inline constexpr double kMaxSide = 16384;

struct ImageSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

ParamSpec probability_param(double default_value, std::string doc);
/// An optional integer from 1 to kMaxSide.
ParamSpec side_param(std::string name, std::string doc);
ParamSpec interpolation_param();
ParamSpec antialias_param();
/// `shuffle_buffer_mb` of sources that can read about 1 MB at once.
ParamSpec shuffle_buffer_param();
/// Two numbers, smaller first.
ParamSpec range_param(std::string name, std::string doc, double low, double high, double minimum,
                      std::optional<double> maximum);
/// The parameters `size`, or `height` and `width`.
void add_size_params(std::vector<ParamSpec>& params);

/// From `size`, or `height` and `width`; empty if none is given. Throws Error(usage) for one of
/// height and width alone, or for both forms together.
std::optional<ImageSize> optional_size(const Params& params);
/// Like optional_size(), but throws Error(usage) if none is given.
ImageSize required_size(const Params& params);
/// From `interpolation` and `antialias`.
ResizeFilter resize_filter(const Params& params);
/// Throws Error(usage) if the first number is above the second.
Range range_of(const Params& params, const std::string& name);

}  // namespace cachebisect::stages
