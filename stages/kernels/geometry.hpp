// Positions and sizes of crops and erased boxes, chosen as in torchvision.
#pragma once

#include <cstdint>
#include <optional>

#include "stages/kernels/image.hpp"
#include "stages/kernels/range.hpp"

#include "cachebisect/base/random.hpp"

namespace cachebisect::stages {

/// Where a centred crop of `size` pixels begins in `length`; negative when it is longer.
/// Like torchvision, rounds half to even, or puts the smaller half of the padding first.
std::int64_t center_offset(std::int64_t length, std::int64_t size) noexcept;

/// torchvision's RandomResizedCrop.get_params: 10 tries for a share of the area in `scale` and an
/// aspect ratio (width over height) log-uniform in `ratio`, then the largest centred crop within
/// `ratio`.
Box random_resized_box(std::int64_t height, std::int64_t width, const Range& scale,
                       const Range& ratio, RandomStream& random);

/// torchvision's RandomErasing.get_params; empty when 10 tries give no box smaller than the image.
/// `ratio` is height over width.
std::optional<Box> random_erasing_box(std::int64_t height, std::int64_t width, const Range& scale,
                                      const Range& ratio, RandomStream& random);

}  // namespace cachebisect::stages
