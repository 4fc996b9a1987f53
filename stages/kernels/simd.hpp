// Hot loops over uint8 pixels in AVX2, if the CPU has it. Each processes what fills whole vectors
// and returns how much that was (0 without AVX2); the caller's plain loop does the rest, with
// identical results.
#pragma once

#include <cstdint>

namespace cachebisect::stages {

struct AxisWeights;

/// Resamples a row of RGB pixels by the weights of `axis`; `from` has `row_bytes` bytes. Returns
/// the number of output pixels written.
std::int64_t mix_rgb_simd(const std::uint8_t* from, std::int64_t row_bytes, std::uint8_t* to,
                          std::int64_t outputs, const AxisWeights& axis) noexcept;

/// The weighted sum of the source rows of output row `output`; rows are `stride` elements apart.
/// Returns how many of the `length` elements were written.
std::int64_t blend_rows_simd(const std::uint8_t* from, std::int64_t stride, const AxisWeights& axis,
                             std::int64_t output, std::uint8_t* to, std::int64_t length) noexcept;

/// Writes the RGB pixels of a row in reverse order. Returns how many pixels were read, from the
/// left.
std::int64_t reverse_rgb_simd(const std::uint8_t* from, std::uint8_t* to,
                              std::int64_t width) noexcept;

/// Interleaves three planes to RGB pixels. Returns how many pixels were written, from the left.
std::int64_t interleave_rgb_simd(const std::uint8_t* red, const std::uint8_t* green,
                                 const std::uint8_t* blue, std::uint8_t* to,
                                 std::int64_t width) noexcept;

/// Splits RGB pixels into three planes. Returns how many pixels were written, from the left.
std::int64_t spread_rgb_simd(const std::uint8_t* from, std::uint8_t* red, std::uint8_t* green,
                             std::uint8_t* blue, std::int64_t width) noexcept;

}  // namespace cachebisect::stages
