#include "stages/kernels/color.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stages/kernels/target_clones.hpp"

namespace cachebisect::stages {
namespace {

// ITU-R 601-2 luma with torchvision's weights, in 1/65536; the shift truncates, as its cast does.
constexpr std::uint32_t kRed = 19589;
constexpr std::uint32_t kGreen = 38470;
constexpr std::uint32_t kBlue = 7471;

std::uint32_t luma(std::uint32_t red, std::uint32_t green, std::uint32_t blue) noexcept {
  return (red * kRed + green * kGreen + blue * kBlue) >> 16;
}

// torchvision's blend: factor * value + (1 - factor) * other, clamped to 0..255 and truncated.
std::uint8_t blend(float value, float other, float factor) noexcept {
  return static_cast<std::uint8_t>(
      std::clamp(value * factor + other * (1.0F - factor), 0.0F, 255.0F));
}

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
  for (std::int64_t i = 0; i < pixels; ++i) {
    std::uint8_t* pixel = data + 3 * i;
    const auto grey = static_cast<float>(luma(pixel[0], pixel[1], pixel[2]));
    for (int c = 0; c < 3; ++c) pixel[c] = blend(static_cast<float>(pixel[c]), grey, factor);
  }
}

// Channel n of HSV to RGB without branches: v - v s max(0, min(k, 4 - k, 1)), k = (n + 6 h) mod 6.
float hsv_channel(float n, float h6, float range, float v) noexcept {
  float k = n + h6;
  k = k >= 6.0F ? k - 6.0F : k;
  return v - range * std::max(0.0F, std::min(std::min(k, 4.0F - k), 1.0F));
}

CACHEBISECT_CLONES void shift_hue(std::uint8_t* data, std::int64_t pixels, float shift6) noexcept {
  for (std::int64_t i = 0; i < pixels; ++i) {
    std::uint8_t* pixel = data + 3 * i;
    const auto r = static_cast<float>(pixel[0]);
    const auto g = static_cast<float>(pixel[1]);
    const auto b = static_cast<float>(pixel[2]);
    const float high = std::max(std::max(r, g), b);
    const float range = high - std::min(std::min(r, g), b);
    const float scale = 1.0F / std::max(range, 1.0F);
    const float from_red = (g - b) * scale;
    const float from_green = (b - r) * scale + 2.0F;
    const float from_blue = (r - g) * scale + 4.0F;
    float h6 = high == r ? from_red : (high == g ? from_green : from_blue);
    h6 += shift6;
    h6 = h6 < 0.0F ? h6 + 6.0F : h6;
    h6 = h6 >= 6.0F ? h6 - 6.0F : h6;
    // The half rounds to nearest, so that a shift of 0 gives the exact input.
    pixel[0] = static_cast<std::uint8_t>(hsv_channel(5.0F, h6, range, high) + 0.5F);
    pixel[1] = static_cast<std::uint8_t>(hsv_channel(3.0F, h6, range, high) + 0.5F);
    pixel[2] = static_cast<std::uint8_t>(hsv_channel(1.0F, h6, range, high) + 0.5F);
  }
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

double mean_grey(const Pixels& pixels) noexcept {
  const std::int64_t total = count(pixels);
  if (total == 0) return 0;
  std::uint64_t sum = 0;
  if (pixels.channels == 3) {
    sum = luma_sum(pixels.data.data(), total);
  } else {
    for (const std::uint8_t value : pixels.data) sum += value;
  }
  return static_cast<double>(sum) / static_cast<double>(total);
}

}  // namespace

void adjust_brightness(const Pixels& pixels, float factor) noexcept {
  map_bytes(pixels.data, blend_map(0, factor));
}

void adjust_contrast(const Pixels& pixels, float factor) noexcept {
  map_bytes(pixels.data, blend_map(static_cast<float>(mean_grey(pixels)), factor));
}

void adjust_saturation(const Pixels& pixels, float factor) noexcept {
  if (pixels.channels == 3) saturate(pixels.data.data(), count(pixels), factor);
}

void adjust_hue(const Pixels& pixels, float factor) noexcept {
  if (pixels.channels == 3 && factor != 0) shift_hue(pixels.data.data(), count(pixels), factor * 6);
}

void to_grayscale(std::span<const std::uint8_t> from, std::span<std::uint8_t> to,
                  std::int64_t to_channels) noexcept {
  const auto pixels = static_cast<std::int64_t>(from.size()) / 3;
  if (to_channels == 3) return grey_pixels(from.data(), pixels, to.data(), 3);
  grey_pixels(from.data(), pixels, to.data(), to_channels);
}

}  // namespace cachebisect::stages
