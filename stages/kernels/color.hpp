// Colour operations on dense uint8 HWC images of 1 or 3 channels, by torchvision's formulas (within
// 2 of 255).
#pragma once

#include <cstdint>
#include <span>

#include "cachebisect/data/image_changes.hpp"

namespace cachebisect::stages {

/// Interleaved pixels, changed in place.
struct Pixels {
  std::span<std::uint8_t> data;
  std::int64_t channels = 3;
};

/// Changes all pixels. `factor` multiplies (brightness), moves values away from the mean of the
/// grey image (contrast) or from the grey of the pixel (saturation) if it is above 1 and towards it
/// if it is less, or is a shift in full turns, -0.5..0.5 (hue). No effect of the last two on one
/// channel.
void change_color(const Pixels& pixels, ColorOp op, float factor) noexcept;
/// Writes 0.2989 R + 0.587 G + 0.114 B of `from` (3 channels) to each channel of `to`.
void to_grayscale(std::span<const std::uint8_t> from, std::span<std::uint8_t> to,
                  std::int64_t to_channels) noexcept;

}  // namespace cachebisect::stages
