// Declarations of parameters that several stages share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// The largest side of an image that a stage makes, in pixels.
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
/// Two numbers, smaller first.
ParamSpec range_param(std::string name, std::string doc, double low, double high, double minimum,
                      std::optional<double> maximum);
/// The parameters `size`, or `height` and `width`.
void add_size_params(std::vector<ParamSpec>& params);

/// From `size`, or `height` and `width`; none when all are absent. Throws Error(usage) when they
/// are half given or given twice.
std::optional<ImageSize> optional_size(const Params& params);
/// As optional_size(), but one must be there.
ImageSize required_size(const Params& params);
struct Range {
  double low = 0;
  double high = 0;
};
/// Throws Error(usage) when the first number is above the second.
Range range_of(const Params& params, const std::string& name);

}  // namespace cachebisect::stages
