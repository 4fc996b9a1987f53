// Reads the header of an encoded image: format, size, orientation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cachebisect::stages {

enum class ImageFormat { unknown, jpeg, png, webp, bmp, tiff, pnm };
std::string_view to_string(ImageFormat format) noexcept;

/// The format by its first bytes; unknown when decode.image does not read it.
ImageFormat image_format(std::span<const std::byte> bytes) noexcept;

/// width * height from the header of any format but JPEG. Throws Error(data) when the header is
/// truncated, damaged, declares no pixels, or tiles far larger than the image.
std::uint64_t header_pixels(std::span<const std::byte> bytes, ImageFormat format);

/// EXIF orientation 1..8 of a JPEG, PNG or WebP; 1 if it is missing or damaged. Always 1 for TIFF,
/// because the TIFF decoder applies the orientation itself.
int exif_orientation(std::span<const std::byte> bytes, ImageFormat format) noexcept;

}  // namespace cachebisect::stages
