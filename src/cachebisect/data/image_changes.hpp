// What device operations do to the images of a batch, a value per image. Included by nvcc in C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cachebisect/base/host_device.hpp"

namespace cachebisect {

/// Images of one operation, whose values a kernel takes as its arguments.
constexpr std::size_t kMaxImagesAtOnce = 96;

/// The part of an image that the output shows, which gives its size; zeros beyond the image.
struct ImageWindow {
  std::int32_t top = 0;  ///< the input's row that is the first of the output; may be negative
  std::int32_t left = 0;
  bool flip_rows = false;     ///< then flipped top to bottom
  bool flip_columns = false;  ///< then flipped left to right
};

/// The changes of colour of torchvision's ColorJitter.
enum class ColorOp : std::uint8_t { none, brightness, contrast, saturation, hue };

/// In their order. A factor multiplies; that of the hue is a shift in full turns.
struct ColorChanges {
  static constexpr int kCount = 4;
  // Plain arrays: kernels cannot call the members of std::array.
  ColorOp ops[kCount] = {};    // NOLINT(modernize-avoid-c-arrays)
  float factors[kCount] = {};  // NOLINT(modernize-avoid-c-arrays)
};

/// How a dense batch of images [N, H, W, C] or [N, C, H, W] lies in memory, in elements.
struct ImageLayout {
  std::int64_t images = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  bool planar = false;  ///< channels first

  [[nodiscard]] CACHEBISECT_HOST_DEVICE std::int64_t pixels() const noexcept {
    return height * width;
  }
  [[nodiscard]] CACHEBISECT_HOST_DEVICE std::int64_t pixel_stride() const noexcept {
    return planar ? 1 : channels;
  }
  [[nodiscard]] CACHEBISECT_HOST_DEVICE std::int64_t channel_stride() const noexcept {
    return planar ? pixels() : 1;
  }
};

}  // namespace cachebisect
