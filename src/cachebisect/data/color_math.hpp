// Changes of the colour of one pixel of 8 bits, by torchvision's formulas (within 2 of 255). One
// code for the host and for kernels, whose results are equal: each operation is rounded by itself.
// Included by nvcc in C++17.
#pragma once

#include <cstdint>

#include "cachebisect/base/host_device.hpp"
#include "cachebisect/data/image_changes.hpp"

namespace cachebisect::color_math {

// The compiler of kernels would join them to one operation. The host's is told not to.
CACHEBISECT_HOST_DEVICE inline float product(float a, float b) noexcept {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
CACHEBISECT_HOST_DEVICE inline float sum(float a, float b) noexcept {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

CACHEBISECT_HOST_DEVICE inline float smaller(float a, float b) noexcept { return b < a ? b : a; }
CACHEBISECT_HOST_DEVICE inline float larger(float a, float b) noexcept { return a < b ? b : a; }

/// ITU-R 601-2 luma with torchvision's weights in 1/65536; truncated, as its cast does.
CACHEBISECT_HOST_DEVICE inline std::uint32_t luma(std::uint32_t red, std::uint32_t green,
                                                  std::uint32_t blue) noexcept {
  constexpr std::uint32_t kRed = 19589;
  constexpr std::uint32_t kGreen = 38470;
  constexpr std::uint32_t kBlue = 7471;
  return (red * kRed + green * kGreen + blue * kBlue) >> 16;
}

/// torchvision's blend: factor * value + (1 - factor) * other, clamped to 0..255 and truncated.
CACHEBISECT_HOST_DEVICE inline std::uint8_t blend(float value, float other, float factor) noexcept {
  const float mixed = sum(product(value, factor), product(other, 1.0F - factor));
  return static_cast<std::uint8_t>(smaller(larger(mixed, 0.0F), 255.0F));
}

/// Moves an RGB pixel away from its grey (factor > 1) or towards it.
CACHEBISECT_HOST_DEVICE inline void saturate(std::uint8_t* pixel, float factor) noexcept {
  const auto grey = static_cast<float>(luma(pixel[0], pixel[1], pixel[2]));
  for (int c = 0; c < 3; ++c) pixel[c] = blend(static_cast<float>(pixel[c]), grey, factor);
}

// Channel n of HSV to RGB without branches: v - v s max(0, min(k, 4 - k, 1)), k = (n + 6 h) mod 6.
CACHEBISECT_HOST_DEVICE inline float hsv_channel(float n, float h6, float range, float v) noexcept {
  float k = n + h6;
  k = k >= 6.0F ? k - 6.0F : k;
  return sum(v, -product(range, larger(0.0F, smaller(smaller(k, 4.0F - k), 1.0F))));
}

/// Shifts the hue of an RGB pixel by `shift6` sixths of a turn (-3..3).
CACHEBISECT_HOST_DEVICE inline void shift_hue(std::uint8_t* pixel, float shift6) noexcept {
  const auto r = static_cast<float>(pixel[0]);
  const auto g = static_cast<float>(pixel[1]);
  const auto b = static_cast<float>(pixel[2]);
  const float high = larger(larger(r, g), b);
  const float range = high - smaller(smaller(r, g), b);
  const float scale = 1.0F / larger(range, 1.0F);
  const float from_red = product(g - b, scale);
  const float from_green = sum(product(b - r, scale), 2.0F);
  const float from_blue = sum(product(r - g, scale), 4.0F);
  float h6 = high == r ? from_red : (high == g ? from_green : from_blue);
  h6 += shift6;
  h6 = h6 < 0.0F ? h6 + 6.0F : h6;
  h6 = h6 >= 6.0F ? h6 - 6.0F : h6;
  // The half rounds to nearest, so that a shift of 0 gives the exact input.
  pixel[0] = static_cast<std::uint8_t>(hsv_channel(5.0F, h6, range, high) + 0.5F);
  pixel[1] = static_cast<std::uint8_t>(hsv_channel(3.0F, h6, range, high) + 0.5F);
  pixel[2] = static_cast<std::uint8_t>(hsv_channel(1.0F, h6, range, high) + 0.5F);
}

/// One change of a pixel of 1 or 3 channels; on one channel saturation and hue have no effect.
/// `mean` is the mean of the grey image, which contrast needs.
CACHEBISECT_HOST_DEVICE inline void change(std::uint8_t* pixel, int channels, ColorOp op,
                                           float factor, float mean) noexcept {
  if (op == ColorOp::brightness || op == ColorOp::contrast) {
    const float other = op == ColorOp::contrast ? mean : 0.0F;
    for (int c = 0; c < channels; ++c) {
      pixel[c] = blend(static_cast<float>(pixel[c]), other, factor);
    }
  } else if (channels == 3 && op == ColorOp::saturation) {
    saturate(pixel, factor);
  } else if (channels == 3 && op == ColorOp::hue && factor != 0) {
    shift_hue(pixel, product(factor, 6.0F));
  }
}

/// The place of contrast among the changes; kCount if it is none of them.
CACHEBISECT_HOST_DEVICE inline int contrast_of(const ColorChanges& changes) noexcept {
  int at = 0;
  while (at < ColorChanges::kCount && changes.ops[at] != ColorOp::contrast) ++at;
  return at;
}

/// A pixel of 1 or 3 channels of an image, read and written by its layout.
struct Pixel {
  std::uint8_t values[3] = {};  // NOLINT(modernize-avoid-c-arrays): kernels use it
};

CACHEBISECT_HOST_DEVICE inline Pixel load_pixel(const std::uint8_t* from, std::int64_t channels,
                                                std::int64_t stride) noexcept {
  Pixel pixel;
  for (std::int64_t c = 0; c < channels; ++c) pixel.values[c] = from[c * stride];
  return pixel;
}

/// The changes before contrast, whose result contrast takes the mean of.
CACHEBISECT_HOST_DEVICE inline std::uint32_t grey_before_contrast(
    Pixel pixel, int channels, const ColorChanges& changes) noexcept {
  const int end = contrast_of(changes);
  for (int i = 0; i < end; ++i) {
    change(pixel.values, channels, changes.ops[i], changes.factors[i], 0);
  }
  return channels == 3 ? luma(pixel.values[0], pixel.values[1], pixel.values[2]) : pixel.values[0];
}

CACHEBISECT_HOST_DEVICE inline Pixel changed(Pixel pixel, int channels, const ColorChanges& changes,
                                             float mean) noexcept {
  for (int i = 0; i < ColorChanges::kCount; ++i) {
    change(pixel.values, channels, changes.ops[i], changes.factors[i], mean);
  }
  return pixel;
}

/// The mean of an image whose greys add up to `total`.
CACHEBISECT_HOST_DEVICE inline float mean_of(unsigned long long total,
                                             std::int64_t pixels) noexcept {
  return static_cast<float>(static_cast<double>(total) / static_cast<double>(pixels));
}

}  // namespace cachebisect::color_math
