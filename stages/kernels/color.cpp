#include "stages/kernels/color.hpp"

#include <algorithm>
#include <array>

#include "stages/kernels/target_clones.hpp"

#include "cachebisect/data/color_math.hpp"

namespace cachebisect::stages {
namespace {

using color_math::blend;
using color_math::luma;

using ByteMap = std::array<std::uint8_t, 256>;

void map_bytes(std::span<std::uint8_t> data, const ByteMap& map) noexcept {
  for (std::uint8_t& value : data) value = map[value];
}

ByteMap blend_map(float other, float factor) noexcept {
  ByteMap map{};
  for (std::size_t value = 0; value < map.size(); ++value)
    map[value] = blend(static_cast<float>(value), other, factor);
  return map;
}

CACHEBISECT_CLONES std::uint64_t luma_sum(const std::uint8_t* data, std::int64_t pixels) noexcept {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < pixels; ++i)
    sum += luma(data[3 * i], data[3 * i + 1], data[3 * i + 2]);
  return sum;
}

CACHEBISECT_CLONES void saturate(std::uint8_t* data, std::int64_t pixels, float factor) noexcept {
  for (std::int64_t i = 0; i < pixels; ++i) color_math::saturate(data + 3 * i, factor);
}

CACHEBISECT_CLONES void shift_hue(std::uint8_t* data, std::int64_t pixels, float shift6) noexcept {
  for (std::int64_t i = 0; i < pixels; ++i) color_math::shift_hue(data + 3 * i, shift6);
}

CACHEBISECT_CLONES void grey_pixels(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to,
                                    std::int64_t channels) noexcept {
  for (std::int64_t i = 0; i < pixels; ++i) {
    const auto grey =
        static_cast<std::uint8_t>(luma(from[3 * i], from[3 * i + 1], from[3 * i + 2]));
    for (std::int64_t c = 0; c < channels; ++c) to[i * channels + c] = grey;
  }
}

std::int64_t count(const Pixels& pixels) noexcept {
  return static_cast<std::int64_t>(pixels.data.size()) / pixels.channels;
}

float mean_grey(const Pixels& pixels) noexcept {
  const std::int64_t area = count(pixels);
  if (area == 0) return 0;
  std::uint64_t sum = 0;
  if (pixels.channels == 3) {
    sum = luma_sum(pixels.data.data(), area);
  } else {
    for (const std::uint8_t value : pixels.data) sum += value;
  }
  return color_math::mean_of(sum, area);
}

}  // namespace

void change_color(const Pixels& pixels, ColorOp op, float factor) noexcept {
  if (op == ColorOp::brightness) return map_bytes(pixels.data, blend_map(0, factor));
  if (op == ColorOp::contrast) return map_bytes(pixels.data, blend_map(mean_grey(pixels), factor));
  if (pixels.channels != 3) return;
  if (op == ColorOp::saturation) saturate(pixels.data.data(), count(pixels), factor);
  if (op == ColorOp::hue && factor != 0) {
    shift_hue(pixels.data.data(), count(pixels), color_math::product(factor, 6.0F));
  }
}

void to_grayscale(std::span<const std::uint8_t> from, std::span<std::uint8_t> to,
                  std::int64_t to_channels) noexcept {
  const auto pixels = static_cast<std::int64_t>(from.size()) / 3;
  if (to_channels == 3) return grey_pixels(from.data(), pixels, to.data(), 3);
  grey_pixels(from.data(), pixels, to.data(), to_channels);
}

}  // namespace cachebisect::stages
