// How the affine operation divides a dense tensor by channels.
#pragma once

#include <cstdint>
#include <span>

namespace cachebisect {

/// Dense [outer, channels, inner].
struct AffineLayout {
  std::int64_t outer = 1;
  std::int64_t channels = 1;
  std::int64_t inner = 1;
};

/// The channels lie along `channel_axis` of `dims`. With one scale and one bias for the whole
/// tensor it is a single channel, so that the width of an image does not count as a number of
/// channels.
[[nodiscard]] inline AffineLayout affine_layout(std::span<const std::int64_t> dims,
                                                std::size_t channel_axis,
                                                std::span<const float> scale,
                                                std::span<const float> bias) {
  const bool uniform = scale.size() == 1 && bias.size() == 1;
  AffineLayout layout;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (uniform || axis > channel_axis) {
      layout.inner *= dims[axis];
    } else if (axis == channel_axis) {
      layout.channels *= dims[axis];
    } else {
      layout.outer *= dims[axis];
    }
  }
  return layout;
}

}  // namespace cachebisect
