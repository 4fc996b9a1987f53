// ByteMap in AVX2, if the CPU has it. Each function processes what fills whole vectors and returns
// how much that was (0 without AVX2); the caller's plain loop does the rest, with identical
// results.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stages/kernels/byte_map.hpp"

namespace cachebisect::stages {

/// Maps `count` values that lie side by side; the maps, one or one per channel, take turns. Returns
/// how many values were written; of several maps, those of whole pixels.
std::int64_t map_dense_simd(const std::uint8_t* from, std::int64_t count, float* to,
                            const std::vector<ByteMap>& maps) noexcept;

/// Splits RGB pixels into three mapped planes. Returns how many pixels were written, from the left.
std::int64_t map_planes_simd(const std::uint8_t* from, std::int64_t width,
                             const std::array<float*, 3>& planes,
                             const std::array<const ByteMap*, 3>& maps) noexcept;

}  // namespace cachebisect::stages
