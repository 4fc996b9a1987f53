#include "stages/kernels/orientation.hpp"

#include <cstring>

namespace cachebisect::stages {

void write_upright(const PixelRows& from, int orientation, std::uint8_t* rgb) noexcept {
  // Orientations 2..8 name where the stored first row and column belong (EXIF 2.32, 4.6.4 A).
  const bool swapped = swaps_axes(orientation);
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  // "right" and "bottom" are the side of the stored image where the output begins.
  const std::int64_t width = swapped ? from.height : from.width;
  const std::int64_t height = swapped ? from.width : from.height;
  const std::int64_t step_x = from_right ? -3 : 3;
  const std::int64_t step_y = from_bottom ? -from.row_bytes : from.row_bytes;
  const std::int64_t along_row = swapped ? step_y : step_x;
  const std::int64_t along_column = swapped ? step_x : step_y;
  const std::uint8_t* start = from.data + (from_right ? 3 * (from.width - 1) : 0) +
                              (from_bottom ? from.row_bytes * (from.height - 1) : 0);
  const int red = from.blue_first ? 2 : 0;
  for (std::int64_t y = 0; y < height; ++y, start += along_column) {
    const std::uint8_t* pixel = start;
    if (along_row == 3 && !from.blue_first) {
      std::memcpy(rgb, pixel, static_cast<std::size_t>(3 * width));
      rgb += 3 * width;
      continue;
    }
    for (std::int64_t x = 0; x < width; ++x, pixel += along_row, rgb += 3) {
      rgb[0] = pixel[red];
      rgb[1] = pixel[1];
      rgb[2] = pixel[2 - red];
    }
  }
}

}  // namespace cachebisect::stages
