// What an encoded image says of itself before it is decoded: format, size, orientation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cachebisect::stages {

enum class ImageFormat { unknown, jpeg, png, webp, bmp, tiff, pnm };
std::string_view to_string(ImageFormat format) noexcept;

/// By the first bytes; unknown when they are of no format that decode.image reads.
ImageFormat image_format(std::span<const std::byte> bytes) noexcept;

/// width * height of an image that is no JPEG, from its header. Throws Error(data) when the header
/// is truncated, damaged, or says that there are no pixels.
std::uint64_t header_pixels(std::span<const std::byte> bytes, ImageFormat format);

/// EXIF orientation 1..8 of a JPEG, PNG or WebP; 1 when there is none or it is damaged. TIFF's is
/// not looked at: it is part of that format and always applied by its decoder.
int exif_orientation(std::span<const std::byte> bytes, ImageFormat format) noexcept;

}  // namespace cachebisect::stages
