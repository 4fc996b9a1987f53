#include "stages/kernels/rotate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace cachebisect::stages {
namespace {

template <class T>
T to_pixel(float value) noexcept {
  if constexpr (std::is_same_v<T, float>) return value;
  return static_cast<T>(std::clamp(std::nearbyint(value), 0.0F, 255.0F));
}

template <class T>
void take_nearest(const ImageIn<T>& in, float x, float y, float fill, T* to) noexcept {
  const auto column = static_cast<std::int64_t>(std::nearbyint(x));
  const auto row = static_cast<std::int64_t>(std::nearbyint(y));
  const bool inside = column >= 0 && column < in.width && row >= 0 && row < in.height;
  for (std::int64_t c = 0; c < in.channels; ++c)
    to[c] = inside ? in.row(row)[column * in.channels + c] : to_pixel<T>(fill);
}

// Corners outside count as 0 and lower the coverage; torchvision then blends with `fill` by it.
template <class T>
void take_bilinear(const ImageIn<T>& in, float x, float y, float fill, T* to) noexcept {
  const float left = std::floor(x);
  const float top = std::floor(y);
  const float fx = x - left;
  const float fy = y - top;
  const std::array<float, 4> weights{(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
  std::array<const T*, 4> corners{};
  float coverage = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const std::int64_t column = static_cast<std::int64_t>(left) + static_cast<std::int64_t>(i % 2);
    const std::int64_t row = static_cast<std::int64_t>(top) + static_cast<std::int64_t>(i / 2);
    if (column < 0 || column >= in.width || row < 0 || row >= in.height) continue;
    corners[i] = in.row(row) + column * in.channels;
    coverage += weights[i];
  }
  for (std::int64_t c = 0; c < in.channels; ++c) {
    float value = 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      if (corners[i] != nullptr) value += weights[i] * static_cast<float>(corners[i][c]);
    }
    to[c] = to_pixel<T>((value - fill) * coverage + fill);
  }
}

}  // namespace

template <class T>
void rotate(const ImageIn<T>& in, T* out, double degrees, bool bilinear, float fill) {
  const double angle = degrees * std::numbers::pi / 180;
  const auto cosine = static_cast<float>(std::cos(angle));
  const auto sine = static_cast<float>(std::sin(angle));
  const float middle_x = static_cast<float>(in.width - 1) * 0.5F;
  const float middle_y = static_cast<float>(in.height - 1) * 0.5F;
  T* to = out;
  for (std::int64_t row = 0; row < in.height; ++row) {
    const float dy = static_cast<float>(row) - middle_y;
    for (std::int64_t column = 0; column < in.width; ++column, to += in.channels) {
      const float dx = static_cast<float>(column) - middle_x;
      const float x = cosine * dx - sine * dy + middle_x;
      const float y = sine * dx + cosine * dy + middle_y;
      bilinear ? take_bilinear(in, x, y, fill, to) : take_nearest(in, x, y, fill, to);
    }
  }
}

template void rotate(const ImageIn<std::uint8_t>&, std::uint8_t*, double, bool, float);
template void rotate(const ImageIn<float>&, float*, double, bool, float);

}  // namespace cachebisect::stages
