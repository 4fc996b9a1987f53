#include "stages/kernels/byte_map.hpp"

#include <bit>
#include <cmath>
#include <cstddef>

#include "stages/kernels/byte_map_simd.hpp"

namespace cachebisect::stages {
namespace {

const ByteMap& map_of(const std::vector<ByteMap>& maps, std::int64_t channel) {
  return maps.size() == 1 ? maps.front() : maps[static_cast<std::size_t>(channel)];
}

/// The quotient's last bit is corrected by the remainder, which is exact.
float quotient(float value, float divisor) noexcept {
  const float reciprocal = 1.0F / divisor;
  const float near = value * reciprocal;
  return std::fma(std::fma(-near, divisor, value), reciprocal, near);
}

// Fills three planes at once, so that each pixel is read only once.
void spread_row(const std::uint8_t* from, std::int64_t width, float* red, float* green, float* blue,
                const ByteMap& r, const ByteMap& g, const ByteMap& b) {
  std::int64_t x = map_planes_simd(from, width, {red, green, blue}, {&r, &g, &b});
  for (; x < width; ++x) {
    red[x] = r[from[3 * x]];
    green[x] = g[from[3 * x + 1]];
    blue[x] = b[from[3 * x + 2]];
  }
}

/// Values that lie side by side in both images: no strides to compute.
void map_dense(const std::uint8_t* from, std::int64_t count, std::int64_t channels, float* to,
               const std::vector<ByteMap>& maps) {
  std::int64_t i = map_dense_simd(from, count, to, maps);
  if (maps.size() == 1) {
    for (; i < count; ++i) to[i] = maps.front()[from[i]];
    return;
  }
  // What was done is whole pixels.
  for (; i < count; i += channels) {
    for (std::int64_t c = 0; c < channels; ++c) to[i + c] = map_of(maps, c)[from[i + c]];
  }
}

/// Of RGB pixels. Rows that follow each other without a gap are one row.
void map_planes(const ImageIn<std::uint8_t>& in, const ImageOut<float>& out,
                const std::vector<ByteMap>& maps) {
  const bool whole = out.row_stride == out.width;
  const std::int64_t rows = whole ? 1 : in.height;
  for (std::int64_t y = 0; y < rows; ++y) {
    float* const to = out.row(y);
    spread_row(in.row(y), whole ? in.height * in.width : in.width, to, to + out.channel_stride,
               to + 2 * out.channel_stride, map_of(maps, 0), map_of(maps, 1), map_of(maps, 2));
  }
}

bool is_dense(const ImageOut<float>& out) {
  return out.row_stride == out.width * out.channels && out.column_stride == out.channels &&
         (out.channels == 1 || out.channel_stride == 1);
}

}  // namespace

ByteMap::ByteMap(float mean, float std) : mean_(mean), std_(std) {
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const auto value = static_cast<std::uint8_t>(i);
    table_[i] = (unit_value(value) - mean) / std;
    const float multiplied = quotient(quotient(static_cast<float>(value), 255.0F) - mean, std);
    multiplies_ &=
        std::bit_cast<std::uint32_t>(multiplied) == std::bit_cast<std::uint32_t>(table_[i]);
  }
}

void map_bytes(const ImageIn<std::uint8_t>& in, const ImageOut<float>& out,
               const std::vector<ByteMap>& maps) {
  if (is_dense(out)) {
    return map_dense(in.data, in.height * in.width * in.channels, in.channels, out.data, maps);
  }
  if (in.channels == 3 && out.column_stride == 1) return map_planes(in, out, maps);
  for (std::int64_t y = 0; y < in.height; ++y) {
    const std::uint8_t* from = in.row(y);
    float* to = out.row(y);
    for (std::int64_t c = 0; c < in.channels; ++c) {
      const ByteMap& map = map_of(maps, c);
      float* plane = to + c * out.channel_stride;
      for (std::int64_t x = 0; x < in.width; ++x)
        plane[x * out.column_stride] = map[from[x * in.channels + c]];
    }
  }
}

}  // namespace cachebisect::stages
