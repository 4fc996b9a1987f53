// A folder of photo-like JPEG files, for when no real photographs are at hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cachebisect::stages {

/// About how many bytes one file has.
inline constexpr std::uint64_t kPhotoBytes = 70'000;

/// Dense RGB pixels.
struct RgbImage {
  unsigned width = 0;
  unsigned height = 0;
  std::vector<std::uint8_t> pixels;
};

/// Writes `samples` files in ten class folders: about 500x375 pixels, 4:2:0, about 70 KB. The same
/// bytes on every run with the same JPEG library. Throws Error(usage) in a build without TurboJPEG.
void generate_photos(const std::string& folder, std::uint64_t samples);

/// Photo number `index` by the dead leaves model (Lee, Mumford, Huang, "Occlusion models for
/// natural images", IJCV 2001): discs of power-law sizes that hide each other, which gives the 1/f
/// spectrum and the edges of photographs, with shading and grain. Colours lean to the class's own.
RgbImage draw_photo(std::uint64_t index, unsigned class_index);

}  // namespace cachebisect::stages
