#include "stages/kernels/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect::stages {
namespace {

constexpr int kTries = 10;

// The sides of a box; first / second is its aspect ratio.
struct Sides {
  std::int64_t first;
  std::int64_t second;
};

Sides draw_sides(double area, const Range& scale, const Range& ratio, RandomStream& random) {
  const double target = area * random.uniform(scale.low, scale.high);
  const double aspect = std::exp(random.uniform(std::log(ratio.low), std::log(ratio.high)));
  return {std::llrint(std::sqrt(target * aspect)), std::llrint(std::sqrt(target / aspect))};
}

Box draw_position(std::int64_t height, std::int64_t width, std::int64_t box_height,
                  std::int64_t box_width, RandomStream& random) {
  const auto top = random.below(static_cast<std::uint64_t>(height - box_height + 1));
  const auto left = random.below(static_cast<std::uint64_t>(width - box_width + 1));
  return {static_cast<std::int64_t>(top), static_cast<std::int64_t>(left), box_height, box_width};
}

}  // namespace

std::int64_t center_offset(std::int64_t length, std::int64_t size) noexcept {
  if (size > length) return -((size - length) / 2);
  return std::llrint(static_cast<double>(length - size) / 2.0);
}

Box random_resized_box(std::int64_t height, std::int64_t width, const Range& scale,
                       const Range& ratio, RandomStream& random) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  for (int i = 0; i < kTries; ++i) {
    const auto [w, h] = draw_sides(area, scale, ratio, random);
    if (w > 0 && w <= width && h > 0 && h <= height)
      return draw_position(height, width, h, w, random);
  }
  const double aspect = static_cast<double>(width) / static_cast<double>(height);
  std::int64_t w = width;
  std::int64_t h = height;
  if (aspect < ratio.low) {
    h = std::llrint(static_cast<double>(w) / ratio.low);
  } else if (aspect > ratio.high) {
    w = std::llrint(static_cast<double>(h) * ratio.high);
  }
  h = std::clamp<std::int64_t>(h, 1, height);
  w = std::clamp<std::int64_t>(w, 1, width);
  return {(height - h) / 2, (width - w) / 2, h, w};
}

std::optional<Box> random_erasing_box(std::int64_t height, std::int64_t width, const Range& scale,
                                      const Range& ratio, RandomStream& random) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  for (int i = 0; i < kTries; ++i) {
    const auto [h, w] = draw_sides(area, scale, ratio, random);
    if (h < height && w < width) return draw_position(height, width, h, w, random);
  }
  return std::nullopt;
}

}  // namespace cachebisect::stages
