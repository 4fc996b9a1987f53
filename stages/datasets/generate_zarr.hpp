// Generates a group of Zarr with photo-like images and their labels, for use without real data.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "stages/datasets/zarr_array.hpp"

namespace cachebisect::stages {

inline constexpr const char* kGeneratedImages = "images";
/// Approximate bytes of an image in storage.
inline constexpr std::uint64_t kGeneratedImageBytes = 165'000;

/// The array "images" of a group of so many: uint8 [256, 256, 3], four chunks each.
[[nodiscard]] ZarrArray generated_images(std::uint64_t samples);
/// Writes version 3 of the format, gzip: that array, and "labels", int64 from 0 to 9. The same
/// pixels on every run. Throws Error(interrupted) on `stop`.
void generate_zarr(const std::string& folder, std::uint64_t samples, const std::stop_token& stop);

}  // namespace cachebisect::stages
