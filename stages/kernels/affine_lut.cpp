#include "stages/kernels/affine_lut.hpp"

namespace cachebisect::stages {
namespace {

const ByteTable& table_of(const std::vector<ByteTable>& tables, std::int64_t channel) {
  return tables.size() == 1 ? tables.front() : tables[static_cast<std::size_t>(channel)];
}

// Fills three planes at once, so that each pixel is read only once.
void spread_row(const std::uint8_t* from, std::int64_t width, float* red, float* green, float* blue,
                const ByteTable& r, const ByteTable& g, const ByteTable& b) {
  for (std::int64_t x = 0; x < width; ++x) {
    red[x] = r[from[3 * x]];
    green[x] = g[from[3 * x + 1]];
    blue[x] = b[from[3 * x + 2]];
  }
}

/// One table for values that lie side by side in both images: no strides to compute.
void map_values(const std::uint8_t* from, std::int64_t count, float* to, const ByteTable& table) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = table[from[i]];
}

bool is_dense(const ImageOut<float>& out) {
  return out.row_stride == out.width * out.channels && out.column_stride == out.channels &&
         (out.channels == 1 || out.channel_stride == 1);
}

}  // namespace

void apply_tables(const ImageIn<std::uint8_t>& in, const ImageOut<float>& out,
                  const std::vector<ByteTable>& tables) {
  if (tables.size() == 1 && is_dense(out)) {
    return map_values(in.data, in.height * in.width * in.channels, out.data, tables.front());
  }
  for (std::int64_t y = 0; y < in.height; ++y) {
    const std::uint8_t* from = in.row(y);
    float* to = out.row(y);
    if (in.channels == 3 && out.column_stride == 1) {
      spread_row(from, in.width, to, to + out.channel_stride, to + 2 * out.channel_stride,
                 table_of(tables, 0), table_of(tables, 1), table_of(tables, 2));
      continue;
    }
    for (std::int64_t c = 0; c < in.channels; ++c) {
      const ByteTable& table = table_of(tables, c);
      float* plane = to + c * out.channel_stride;
      for (std::int64_t x = 0; x < in.width; ++x)
        plane[x * out.column_stride] = table[from[x * in.channels + c]];
    }
  }
}

}  // namespace cachebisect::stages
