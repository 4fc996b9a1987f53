// The weights of one axis of a resize.
#pragma once

#include <cstdint>

#include "stages/kernels/resize.hpp"

#include "cachebisect/data/memory.hpp"

namespace cachebisect::stages {

/// Output i is the sum over t < count[i] of weight[i * taps + t] * source[first[i] + t].
struct AxisWeights {
  const std::int32_t* first = nullptr;
  const std::int32_t* count = nullptr;
  std::int32_t most = 0;  ///< the largest of `count`
  const float* real = nullptr;
  const std::int16_t* fixed = nullptr;  ///< weight * 2^precision, rounded
  std::int64_t taps = 0;                ///< weights per output, a multiple of 4; padded with zeros
  int precision = 0;
  /// Elements of `fixed` beyond the last weight that may be read, of any value.
  static constexpr std::int64_t kReadable = 4;
  bool identity = false;  ///< output i is source i + first[0], and there are no weights

  /// Half of 2^precision: added before the shift by `precision`, which then rounds to nearest.
  [[nodiscard]] std::int32_t half() const noexcept {
    return precision > 0 ? 1 << (precision - 1) : 0;
  }
};

/// The weights that map `length` source pixels from `start` on to `outputs` pixels. Any filter but
/// nearest. The arrays are in `arena`.
AxisWeights make_weights(std::int64_t start, std::int64_t length, std::int64_t outputs,
                         const ResizeFilter& filter, Arena& arena);
/// The source pixel of each output for nearest, by the same running sum as Pillow's.
const std::int32_t* nearest_sources(std::int64_t start, std::int64_t length, std::int64_t outputs,
                                    Arena& arena);

}  // namespace cachebisect::stages
