// Hot loops over uint8 pixels in AVX2, where the CPU has it. Each does as much of its work as fits
// whole vectors and says how much that was (0 without AVX2); the caller's plain loop does the rest,
// with equal results.
#pragma once

#include <cstdint>

namespace cachebisect::stages {

struct AxisWeights;

/// Columns of a row of RGB pixels, mixed by `axis`; `from` has `row_bytes` bytes. Returns how many
/// outputs were made.
std::int64_t mix_rgb_simd(const std::uint8_t* from, std::int64_t row_bytes, std::uint8_t* to,
                          std::int64_t outputs, const AxisWeights& axis) noexcept;

/// The weighted sum of the rows of output `output`, `stride` elements apart. Returns how many of
/// the `length` elements were made.
std::int64_t blend_rows_simd(const std::uint8_t* from, std::int64_t stride, const AxisWeights& axis,
                             std::int64_t output, std::uint8_t* to, std::int64_t length) noexcept;

/// RGB pixels of a row in reverse order, dense. Returns how many pixels were read, from the left.
std::int64_t reverse_rgb_simd(const std::uint8_t* from, std::uint8_t* to,
                              std::int64_t width) noexcept;

/// RGB pixels to three planes. Returns how many pixels were spread, from the left.
std::int64_t spread_rgb_simd(const std::uint8_t* from, std::uint8_t* red, std::uint8_t* green,
                             std::uint8_t* blue, std::int64_t width) noexcept;

}  // namespace cachebisect::stages
