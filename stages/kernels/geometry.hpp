// Where crops and erasures lie: torchvision's choices, given the random numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "stages/kernels/image.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/base/random.hpp"

namespace cachebisect::stages {

/// Where a centred cut of `size` pixels begins in `length`; negative when it is longer.
/// torchvision: round half to even when cutting, the smaller half of the padding first.
std::int64_t center_offset(std::int64_t length, std::int64_t size) noexcept;

/// torchvision's RandomResizedCrop.get_params: 10 tries for an area share in `scale` and an aspect
/// ratio log-uniform in `ratio` (width over height), then the largest centred cut within `ratio`.
Box random_resized_box(std::int64_t height, std::int64_t width, const Range& scale,
                       const Range& ratio, RandomStream& random);

/// torchvision's RandomErasing.get_params; none when 10 tries find nothing smaller than the image.
/// `ratio` is height over width.
std::optional<Box> random_erasing_box(std::int64_t height, std::int64_t width, const Range& scale,
                                      const Range& ratio, RandomStream& random);

}  // namespace cachebisect::stages
