// Images as stages see them: dense HWC in, any strides out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "stages/kernels/simd.hpp"

#include "cachebisect/data/field.hpp"
#include "cachebisect/data/tensor_view.hpp"

namespace cachebisect::stages {

/// A part of an image, in pixels. top and left may be negative for kernels that pad.
struct Box {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  friend bool operator==(const Box&, const Box&) = default;
};

/// A dense HWC image to read.
template <class T>
struct ImageIn {
  const T* data = nullptr;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;

  [[nodiscard]] const T* row(std::int64_t y) const noexcept { return data + y * width * channels; }
  [[nodiscard]] Box whole() const noexcept { return {0, 0, height, width}; }
};

/// An HWC image to write; the strides, in elements, may be of any layout.
template <class T>
struct ImageOut {
  T* data = nullptr;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  std::int64_t channel_stride = 0;

  [[nodiscard]] T* row(std::int64_t y) const noexcept { return data + y * row_stride; }
  /// True if a row's pixels are laid out as in a dense HWC image.
  [[nodiscard]] bool interleaved() const noexcept {
    return channel_stride == 1 && column_stride == channels;
  }
};

/// `view` is dense, of shape [h, w, c] and of T's dtype.
template <class T>
ImageIn<T> image_in(const ConstTensorView& view) noexcept {
  return {reinterpret_cast<const T*>(view.data), view.shape[0], view.shape[1], view.shape[2]};
}

/// `view` is of shape [h, w, c] and of T's dtype.
template <class T>
ImageOut<T> image_out(const TensorView& view) noexcept {
  return {reinterpret_cast<T*>(view.data),
          view.shape[0],
          view.shape[1],
          view.shape[2],
          view.strides[0],
          view.strides[1],
          view.strides[2]};
}

/// Copies `width` interleaved pixels to row `y` of `out`, from column `x` on.
template <class T>
void store_row(const T* pixels, std::int64_t width, const ImageOut<T>& out, std::int64_t y,
               std::int64_t x = 0) noexcept {
  T* to = out.row(y) + x * out.column_stride;
  const std::int64_t channels = out.channels;
  if (out.interleaved()) {
    std::memcpy(to, pixels, static_cast<std::size_t>(width * channels) * sizeof(T));
    return;
  }
  std::int64_t done = 0;
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (channels == 3 && out.column_stride == 1) {
      done =
          spread_rgb_simd(pixels, to, to + out.channel_stride, to + 2 * out.channel_stride, width);
    }
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    T* plane = to + c * out.channel_stride;
    for (std::int64_t i = done; i < width; ++i)
      plane[i * out.column_stride] = pixels[i * channels + c];
  }
}

/// Calls `work` with a value of the unsigned integer type that is as wide as `dtype`: for kernels
/// that move elements and do not compute with them.
template <class Work>
void visit_bits(DType dtype, Work&& work) {
  switch (size_of(dtype)) {
    case 1:
      return work(std::uint8_t{});
    case 2:
      return work(std::uint16_t{});
    case 4:
      return work(std::uint32_t{});
    default:
      return work(std::uint64_t{});
  }
}

/// A computed value as a pixel: uint8 is rounded to nearest and clamped, float is kept.
template <class T>
T to_pixel(float value) noexcept {
  if constexpr (std::is_same_v<T, float>) return value;
  return static_cast<T>(std::clamp(std::nearbyint(value), 0.0F, 255.0F));
}

/// Calls `work` with a value of the pixel type: std::uint8_t or float.
template <class Work>
void visit_pixel(DType dtype, Work&& work) {
  if (dtype == DType::uint8) return work(std::uint8_t{});
  return work(float{});
}

}  // namespace cachebisect::stages
