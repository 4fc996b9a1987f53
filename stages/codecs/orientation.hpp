// EXIF orientation applied to pixels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cachebisect::stages {

/// Dense rows of three bytes a pixel, row_bytes apart.
struct PixelRows {
  const std::uint8_t* data = nullptr;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t row_bytes = 0;
  bool blue_first = false;  ///< BGR instead of RGB
};

/// Whether this orientation swaps width and height.
constexpr bool swaps_axes(int orientation) noexcept { return orientation >= 5; }

/// Writes `from` as dense RGB, upright: as it looks after EXIF orientation 1..8 has been applied.
void write_upright(const PixelRows& from, int orientation, std::uint8_t* rgb) noexcept;

}  // namespace cachebisect::stages
