// The layout of a batch of images, from its shape.
#pragma once

#include <cstddef>

#include "cachebisect/data/image_changes.hpp"
#include "cachebisect/data/shape.hpp"

namespace cachebisect {

/// `shape` has rank 4; `channel_axis` is 1 (channels first) or 3 (channels last).
[[nodiscard]] inline ImageLayout image_layout(const Shape& shape, std::size_t channel_axis) {
  const bool planar = channel_axis == 1;
  return {shape[0], shape[planar ? 2 : 1], shape[planar ? 3 : 2], shape[channel_axis], planar};
}

}  // namespace cachebisect
