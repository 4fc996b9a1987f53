// Generates a folder of photo-like JPEG files, for use without real photographs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace cachebisect::stages {

/// Approximate size of a file, in bytes.
inline constexpr std::uint64_t kPhotoBytes = 70'000;

/// Dense RGB pixels.
struct RgbImage {
  unsigned width = 0;
  unsigned height = 0;
  std::vector<std::uint8_t> pixels;
};

inline constexpr std::uint64_t kPhotoClasses = 10;

/// The class of photo `index`: all in turns.
constexpr unsigned photo_class(std::uint64_t index) noexcept {
  return static_cast<unsigned>(index % kPhotoClasses);
}

/// Photo `index` as a JPEG file: about 500x375 pixels, 4:2:0, about 70 KB. The same bytes on every
/// run with the same JPEG library. Throws Error(usage) in a build without TurboJPEG.
std::vector<std::byte> photo_file(std::uint64_t index);

/// With at least so many digits: "000007".
std::string padded(std::uint64_t number, std::size_t digits);
/// "photo_000007" of photo 7.
std::string photo_name(std::uint64_t index);

/// Writes `samples` files in ten class folders. Throws Error(usage) in a build without TurboJPEG
/// and Error(interrupted) on `stop`.
void generate_photos(const std::string& folder, std::uint64_t samples, const std::stop_token& stop);

/// Draws photo number `index` by the dead leaves model (Lee, Mumford, Huang, "Occlusion models for
/// natural images", IJCV 2001): overlapping discs of power-law sizes, which give the 1/f spectrum
/// and the edges of photographs, with shading and grain. The class tints the colours.
RgbImage draw_photo(std::uint64_t index, unsigned class_index);

}  // namespace cachebisect::stages
