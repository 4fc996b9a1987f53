// Cropping, flipping and padding: moves elements of any dtype, computes with none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stages/kernels/image.hpp"

namespace cachebisect::stages {

/// Copies the part of `in` at (top, left) with the size of `out`; pixels outside `in` become
/// `fill`.
template <class T>
void crop(const ImageIn<T>& in, std::int64_t top, std::int64_t left, const ImageOut<T>& out,
          T fill) {
  const std::int64_t begin = std::clamp<std::int64_t>(-left, 0, out.width);
  const std::int64_t end = std::clamp<std::int64_t>(in.width - left, begin, out.width);
  const auto fill_columns = [&](std::int64_t y, std::int64_t from, std::int64_t to) {
    for (std::int64_t c = 0; c < out.channels; ++c) {
      T* row = out.row(y) + c * out.channel_stride;
      for (std::int64_t x = from; x < to; ++x) row[x * out.column_stride] = fill;
    }
  };
  for (std::int64_t y = 0; y < out.height; ++y) {
    const std::int64_t source = top + y;
    if (source < 0 || source >= in.height) {
      fill_columns(y, 0, out.width);
      continue;
    }
    fill_columns(y, 0, begin);
    if (end > begin)
      store_row(in.row(source) + (left + begin) * in.channels, end - begin, out, y, begin);
    fill_columns(y, end, out.width);
  }
}

/// Flips left to right.
template <class T>
void flip_columns(const ImageIn<T>& in, const ImageOut<T>& out) {
  // The first input column is the last output column: the same copy with a negative stride.
  for (std::int64_t y = 0; y < in.height; ++y) {
    const T* from = in.row(y);
    T* last = out.row(y) + (in.width - 1) * out.column_stride;
    std::int64_t done = 0;
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      if (in.channels == 3 && out.interleaved())
        done = reverse_rgb_simd(from, out.row(y), in.width);
    }
    for (std::int64_t c = 0; c < in.channels; ++c) {
      T* to = last + c * out.channel_stride;
      for (std::int64_t x = done; x < in.width; ++x)
        to[-x * out.column_stride] = from[x * in.channels + c];
    }
  }
}

/// Flips top to bottom.
template <class T>
void flip_rows(const ImageIn<T>& in, const ImageOut<T>& out) {
  for (std::int64_t y = 0; y < in.height; ++y)
    store_row(in.row(y), in.width, out, in.height - 1 - y);
}

}  // namespace cachebisect::stages
