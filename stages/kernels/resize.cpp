#include "stages/kernels/resize.hpp"

#include <algorithm>
#include <array>

#include "stages/kernels/resize_weights.hpp"
#include "stages/kernels/simd.hpp"
#include "stages/kernels/target_clones.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

std::uint8_t clip(std::int32_t value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

template <int kChannels>
[[gnu::always_inline]] inline void mix_columns(const std::uint8_t* from, std::uint8_t* to,
                                               std::int64_t begin, std::int64_t outputs,
                                               const AxisWeights& axis) {
  const std::int32_t half = axis.half();
  for (std::int64_t i = begin; i < outputs; ++i) {
    const std::int16_t* weights = axis.fixed + i * axis.taps;
    const std::uint8_t* pixels = from + axis.first[i] * kChannels;
    std::array<std::int32_t, kChannels> sum;
    sum.fill(half);
    for (std::int32_t t = 0; t < axis.count[i]; ++t) {
      for (int c = 0; c < kChannels; ++c)
        sum[static_cast<std::size_t>(c)] += weights[t] * pixels[t * kChannels + c];
    }
    for (int c = 0; c < kChannels; ++c)
      to[i * kChannels + c] = clip(sum[static_cast<std::size_t>(c)] >> axis.precision);
  }
}

// Resamples a row of interleaved pixels along x.
CACHEBISECT_CLONES void mix_row(const std::uint8_t* from, std::int64_t width, std::uint8_t* to,
                                std::int64_t outputs, std::int64_t channels,
                                const AxisWeights& axis) {
  if (channels == 3) {
    const std::int64_t done = mix_rgb_simd(from, 3 * width, to, outputs, axis);
    return mix_columns<3>(from, to, done, outputs, axis);
  }
  if (channels == 1) return mix_columns<1>(from, to, 0, outputs, axis);
  const std::int32_t half = axis.half();
  for (std::int64_t i = 0; i < outputs; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) {
      std::int32_t sum = half;
      for (std::int32_t t = 0; t < axis.count[i]; ++t)
        sum += axis.fixed[i * axis.taps + t] * from[(axis.first[i] + t) * channels + c];
      to[i * channels + c] = clip(sum >> axis.precision);
    }
  }
}

CACHEBISECT_CLONES void mix_row(const float* from, std::int64_t /*width*/, float* to,
                                std::int64_t outputs, std::int64_t channels,
                                const AxisWeights& axis) {
  for (std::int64_t i = 0; i < outputs; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) {
      float sum = 0;
      for (std::int32_t t = 0; t < axis.count[i]; ++t)
        sum += axis.real[i * axis.taps + t] * from[(axis.first[i] + t) * channels + c];
      to[i * channels + c] = sum;
    }
  }
}

// The weighted sum of the source rows of output row `output`; rows are `stride` elements apart.
CACHEBISECT_CLONES void blend_rows(const std::uint8_t* from, std::int64_t stride,
                                   const AxisWeights& axis, std::int64_t output, std::uint8_t* to,
                                   std::int64_t length) {
  const std::int16_t* weights = axis.fixed + output * axis.taps;
  const std::int32_t half = axis.half();
  const std::int64_t done = blend_rows_simd(from, stride, axis, output, to, length);
  for (std::int64_t i = done; i < length; ++i) {
    std::int32_t sum = half;
    for (std::int32_t t = 0; t < axis.count[output]; ++t) sum += weights[t] * from[t * stride + i];
    to[i] = clip(sum >> axis.precision);
  }
}

CACHEBISECT_CLONES void blend_rows(const float* from, std::int64_t stride, const AxisWeights& axis,
                                   std::int64_t output, float* to, std::int64_t length) {
  const float* weights = axis.real + output * axis.taps;
  for (std::int64_t i = 0; i < length; ++i) to[i] = weights[0] * from[i];
  for (std::int32_t t = 1; t < axis.count[output]; ++t) {
    for (std::int64_t i = 0; i < length; ++i) to[i] += weights[t] * from[t * stride + i];
  }
}

template <class T>
void resize_nearest(const ImageIn<T>& in, const Box& box, const ImageOut<T>& out, Arena& arena) {
  const std::int32_t* rows = nearest_sources(box.top, box.height, out.height, arena);
  const std::int32_t* columns = nearest_sources(box.left, box.width, out.width, arena);
  for (std::int64_t y = 0; y < out.height; ++y) {
    const T* from = in.row(rows[y]);
    T* to = out.row(y);
    for (std::int64_t x = 0; x < out.width; ++x) {
      for (std::int64_t c = 0; c < in.channels; ++c)
        to[x * out.column_stride + c * out.channel_stride] = from[columns[x] * in.channels + c];
    }
  }
}

// Source rows from `first` on, already resized to the output width.
template <class T>
struct Rows {
  const T* data;
  std::int64_t first;
  std::int64_t stride;
};

template <class T>
Rows<T> resize_rows(const ImageIn<T>& in, const Box& box, std::int64_t width, std::int64_t first,
                    std::int64_t last, const ResizeFilter& filter, Arena& arena) {
  const std::int64_t stride = in.width * in.channels;
  if (width == box.width) return {in.row(first) + box.left * in.channels, first, stride};
  const AxisWeights axis = make_weights(box.left, box.width, width, filter, arena);
  const std::int64_t length = width * in.channels;
  T* rows = arena.take_array<T>(static_cast<std::size_t>((last - first) * length)).data();
  for (std::int64_t y = first; y < last; ++y)
    mix_row(in.row(y), in.width, rows + (y - first) * length, width, in.channels, axis);
  return {rows, first, length};
}

}  // namespace

ResizeFilter::Kind filter_kind(std::string_view name) {
  if (name == "nearest") return ResizeFilter::Kind::nearest;
  if (name == "area") return ResizeFilter::Kind::area;
  if (name == "bilinear") return ResizeFilter::Kind::bilinear;
  if (name == "bicubic") return ResizeFilter::Kind::bicubic;
  throw Error(ErrorKind::internal, "unknown interpolation " + std::string(name));
}

template <class T>
void resize(const ImageIn<T>& in, const Box& box, const ImageOut<T>& out,
            const ResizeFilter& filter, Arena& arena) {
  if (filter.kind == ResizeFilter::Kind::nearest) return resize_nearest(in, box, out, arena);
  const AxisWeights axis = make_weights(box.top, box.height, out.height, filter, arena);
  const std::int64_t last = out.height - 1;
  const std::int64_t end = axis.first[last] + (axis.identity ? 1 : axis.count[last]);
  const Rows<T> rows = resize_rows(in, box, out.width, axis.first[0], end, filter, arena);
  const std::int64_t length = out.width * in.channels;
  T* scratch = arena.take_array<T>(static_cast<std::size_t>(length)).data();
  for (std::int64_t y = 0; y < out.height; ++y) {
    const T* from = rows.data + (axis.first[y] - rows.first) * rows.stride;
    if (axis.identity) {
      store_row(from, out.width, out, y);
      continue;
    }
    T* to = out.interleaved() ? out.row(y) : scratch;
    blend_rows(from, rows.stride, axis, y, to, length);
    if (to == scratch) store_row(to, out.width, out, y);
  }
}

template void resize(const ImageIn<std::uint8_t>&, const Box&, const ImageOut<std::uint8_t>&,
                     const ResizeFilter&, Arena&);
template void resize(const ImageIn<float>&, const Box&, const ImageOut<float>&, const ResizeFilter&,
                     Arena&);

}  // namespace cachebisect::stages
