// uint8 pixels to float32 by tables: one of 256 entries a channel.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stages/kernels/image.hpp"

namespace cachebisect::stages {

using ByteTable = std::array<float, 256>;

/// A pixel value as to_float makes it.
inline float unit_value(std::uint8_t value) noexcept { return static_cast<float>(value) / 255.0F; }

/// out = tables[channel][in]; one table serves all channels. `in` and `out` are of equal size.
void apply_tables(const ImageIn<std::uint8_t>& in, const ImageOut<float>& out,
                  const std::vector<ByteTable>& tables);

}  // namespace cachebisect::stages
