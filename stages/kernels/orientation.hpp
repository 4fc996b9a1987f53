// Applies the EXIF orientation to pixels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cachebisect::stages {

/// Dense rows of three bytes per pixel, row_bytes apart.
struct PixelRows {
  const std::uint8_t* data = nullptr;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t row_bytes = 0;
  bool blue_first = false;  ///< BGR instead of RGB
};

/// Whether this orientation swaps width and height.
constexpr bool swaps_axes(int orientation) noexcept { return orientation >= 5; }

/// Writes `from` as dense RGB with EXIF orientation 1..8 applied.
void write_upright(const PixelRows& from, int orientation, std::uint8_t* rgb) noexcept;

}  // namespace cachebisect::stages
