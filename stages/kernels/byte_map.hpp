// Converts uint8 pixels to normalised float32.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stages/kernels/image.hpp"

namespace cachebisect::stages {

/// The value that to_float gives a pixel: 0 to 1.
inline float unit_value(std::uint8_t value) noexcept { return static_cast<float>(value) / 255.0F; }

/// (value / 255 - mean) / std, each operation rounded to float32.
class ByteMap {
 public:
  ByteMap(float mean, float std);

  float operator[](std::uint8_t value) const noexcept { return table_[value]; }
  [[nodiscard]] float mean() const noexcept { return mean_; }
  [[nodiscard]] float std() const noexcept { return std_; }
  /// Whether multiplications by reciprocals, each corrected by its remainder, give the same 256
  /// values (Markstein, Computation of elementary functions on the IBM RISC System/6000, 1990).
  [[nodiscard]] bool divides_by_multiplying() const noexcept { return multiplies_; }

 private:
  float mean_;
  float std_;
  std::array<float, 256> table_{};
  bool multiplies_ = true;
};

/// out = maps[channel][in]; a single map serves all channels. `in` and `out` have equal sizes.
void map_bytes(const ImageIn<std::uint8_t>& in, const ImageOut<float>& out,
               const std::vector<ByteMap>& maps);

}  // namespace cachebisect::stages
