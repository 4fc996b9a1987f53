// Reads the first directory of a TIFF structure: a TIFF file, or the EXIF block of other formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cachebisect::stages {

inline constexpr std::uint32_t kTiffWidth = 0x0100;
inline constexpr std::uint32_t kTiffHeight = 0x0101;
inline constexpr std::uint32_t kTiffOrientation = 0x0112;
inline constexpr std::uint32_t kTiffTileWidth = 0x0142;
inline constexpr std::uint32_t kTiffTileHeight = 0x0143;

/// The value of an unsigned tag of the first directory (BYTE, SHORT or LONG, one value); empty if
/// the tag is missing or the structure is damaged.
std::optional<std::uint32_t> tiff_tag(std::span<const std::byte> tiff, std::uint32_t tag);
/// Whether the first directory has the tag, of any type.
bool has_tiff_tag(std::span<const std::byte> tiff, std::uint32_t tag);

}  // namespace cachebisect::stages
