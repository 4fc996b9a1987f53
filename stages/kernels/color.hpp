// Colour of dense uint8 HWC images of 1 or 3 channels, by torchvision's formulas (within 2 of 255).
#pragma once

#include <cstdint>
#include <span>

namespace cachebisect::stages {

/// Interleaved pixels that are changed in place.
struct Pixels {
  std::span<std::uint8_t> data;
  std::int64_t channels = 3;
};

/// value * factor.
void adjust_brightness(const Pixels& pixels, float factor) noexcept;
/// Away from the mean of the grey image (factor > 1) or towards it.
void adjust_contrast(const Pixels& pixels, float factor) noexcept;
/// Away from each pixel's own grey; nothing with one channel.
void adjust_saturation(const Pixels& pixels, float factor) noexcept;
/// Turns the hue by `factor` of a full circle (-0.5..0.5); nothing with one channel.
void adjust_hue(const Pixels& pixels, float factor) noexcept;
/// 0.2989 R + 0.587 G + 0.114 B of `from` (3 channels), in each of `to_channels` channels of `to`.
void to_grayscale(std::span<const std::uint8_t> from, std::span<std::uint8_t> to,
                  std::int64_t to_channels) noexcept;

}  // namespace cachebisect::stages
