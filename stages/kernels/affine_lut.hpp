// Converts uint8 pixels to float32 by lookup tables, one per channel.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stages/kernels/image.hpp"

namespace cachebisect::stages {

using ByteTable = std::array<float, 256>;

/// The value that to_float gives a pixel: 0 to 1.
inline float unit_value(std::uint8_t value) noexcept { return static_cast<float>(value) / 255.0F; }

/// out = tables[channel][in]; a single table serves all channels. `in` and `out` have equal sizes.
void apply_tables(const ImageIn<std::uint8_t>& in, const ImageOut<float>& out,
                  const std::vector<ByteTable>& tables);

}  // namespace cachebisect::stages
