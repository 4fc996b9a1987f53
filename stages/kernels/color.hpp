// Colour operations on dense uint8 HWC images of 1 or 3 channels, by torchvision's formulas (within
// 2 of 255).
#pragma once

#include <cstdint>
#include <span>

namespace cachebisect::stages {

/// Interleaved pixels, changed in place.
struct Pixels {
  std::span<std::uint8_t> data;
  std::int64_t channels = 3;
};

/// Multiplies by `factor`.
void adjust_brightness(const Pixels& pixels, float factor) noexcept;
/// Moves values away from the mean of the grey image (factor > 1) or towards it.
void adjust_contrast(const Pixels& pixels, float factor) noexcept;
/// Moves values away from the pixel's grey (factor > 1) or towards it; no effect on one channel.
void adjust_saturation(const Pixels& pixels, float factor) noexcept;
/// Shifts the hue by `factor` of a full turn (-0.5..0.5); no effect on one channel.
void adjust_hue(const Pixels& pixels, float factor) noexcept;
/// Writes 0.2989 R + 0.587 G + 0.114 B of `from` (3 channels) to each channel of `to`.
void to_grayscale(std::span<const std::uint8_t> from, std::span<std::uint8_t> to,
                  std::int64_t to_channels) noexcept;

}  // namespace cachebisect::stages
