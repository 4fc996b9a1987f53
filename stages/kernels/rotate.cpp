#include "stages/kernels/rotate.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace cachebisect::stages {
namespace {

template <class T>
void sample_nearest(const ImageIn<T>& in, float x, float y, float fill, T* to) noexcept {
  const auto column = static_cast<std::int64_t>(std::nearbyint(x));
  const auto row = static_cast<std::int64_t>(std::nearbyint(y));
  const bool inside = column >= 0 && column < in.width && row >= 0 && row < in.height;
  for (std::int64_t c = 0; c < in.channels; ++c)
    to[c] = inside ? in.row(row)[column * in.channels + c] : to_pixel<T>(fill);
}

// Corners outside the image count as 0; as in torchvision, the covered share blends with `fill`.
template <class T>
void sample_bilinear(const ImageIn<T>& in, float x, float y, float fill, T* to) noexcept {
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
      bilinear ? sample_bilinear(in, x, y, fill, to) : sample_nearest(in, x, y, fill, to);
    }
  }
}

template void rotate(const ImageIn<std::uint8_t>&, std::uint8_t*, double, bool, float);
template void rotate(const ImageIn<float>&, float*, double, bool, float);

}  // namespace cachebisect::stages
