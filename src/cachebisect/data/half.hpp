// float16 (IEEE 754 binary16) and bfloat16 as bit patterns, and their conversions.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// float32 -> float16, round to nearest even; overflow gives infinity; a NaN stays a NaN (quiet,
/// with the upper bits of its payload), as with x86's VCVTPS2PH.
[[nodiscard]] constexpr std::uint16_t float_to_half(float value) noexcept {
  constexpr std::uint32_t kInfinity = 0x7F800000;
  constexpr std::uint32_t kOverflow = 0x47800000;  // 65536
  constexpr std::uint32_t kNormal = 0x38800000;    // 2^-14, the smallest normal float16
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  std::uint32_t half = 0;
  if (magnitude > kInfinity) {
    half = 0x7E00 | ((magnitude >> 13) & 0x3FF);
  } else if (magnitude >= kOverflow) {
    half = 0x7C00;
  } else if (magnitude < kNormal) {
    // Adding 0.5 aligns the last bit of float32 with that of a subnormal float16: the sum rounds.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000;
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1;
    half = (magnitude - 0x38000000 + 0xFFF + odd) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

/// float16 -> float32, exact; a signalling NaN becomes quiet.
[[nodiscard]] constexpr float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude > 0x7C00) {
    return std::bit_cast<float>(sign | 0x7FC00000 | ((magnitude & 0x3FF) << 13));
  }
  if (magnitude == 0x7C00) return std::bit_cast<float>(sign | 0x7F800000);
  if (magnitude < 0x400) {
    const float value = static_cast<float>(magnitude) * 0x1.0p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
}

/// float32 -> bfloat16, round to nearest even; a NaN stays a NaN (quiet).
[[nodiscard]] constexpr std::uint16_t float_to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t quiet_nan = (bits >> 16) | 0x40;
  const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? quiet_nan : rounded);
}

/// bfloat16 -> float32, exact.
[[nodiscard]] constexpr float bfloat16_to_float(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// The same for whole arrays, with vector instructions if the CPU has them; the results are
/// bit-identical. `from` and `to` have the same length and do not overlap.
CACHEBISECT_INTERNAL_API void floats_to_half(std::span<const float> from,
                                             std::span<std::uint16_t> to) noexcept;
CACHEBISECT_INTERNAL_API void halfs_to_float(std::span<const std::uint16_t> from,
                                             std::span<float> to) noexcept;
CACHEBISECT_INTERNAL_API void floats_to_bfloat16(std::span<const float> from,
                                                 std::span<std::uint16_t> to) noexcept;
CACHEBISECT_INTERNAL_API void bfloat16s_to_float(std::span<const std::uint16_t> from,
                                                 std::span<float> to) noexcept;

}  // namespace cachebisect
