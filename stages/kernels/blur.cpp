#include "stages/kernels/blur.hpp"

#include <algorithm>
#include <cmath>

#include "stages/kernels/target_clones.hpp"

namespace cachebisect::stages {
namespace {

// -1 -> 1, length -> length - 2: the border pixel is not repeated.
std::int64_t reflect(std::int64_t at, std::int64_t length) noexcept {
  if (at < 0) return -at;
  return at < length ? at : 2 * length - 2 - at;
}

CACHEBISECT_CLONES void add_weighted(const std::uint8_t* from, float weight, float* to,
                                     std::int64_t length) noexcept {
  for (std::int64_t i = 0; i < length; ++i) to[i] += weight * static_cast<float>(from[i]);
}

CACHEBISECT_CLONES void add_weighted(const float* from, float weight, float* to,
                                     std::int64_t length) noexcept {
  for (std::int64_t i = 0; i < length; ++i) to[i] += weight * from[i];
}

// Extends a row by `half` reflected pixels on each side.
void pad_row(const float* from, std::int64_t width, std::int64_t channels, std::int64_t half,
             float* to) noexcept {
  for (std::int64_t x = -half; x < width + half; ++x) {
    const float* pixel = from + reflect(x, width) * channels;
    for (std::int64_t c = 0; c < channels; ++c) to[(x + half) * channels + c] = pixel[c];
  }
}

}  // namespace

std::span<const float> gaussian_kernel(std::int64_t kernel_size, double sigma, Arena& arena) {
  const std::span<float> kernel = arena.take_array<float>(static_cast<std::size_t>(kernel_size));
  const double middle = static_cast<double>(kernel_size - 1) / 2;
  double sum = 0;
  const auto weight = [&](std::size_t i) {
    const double distance = (static_cast<double>(i) - middle) / sigma;
    return std::exp(-0.5 * distance * distance);
  };
  for (std::size_t i = 0; i < kernel.size(); ++i) sum += weight(i);
  for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] = static_cast<float>(weight(i) / sum);
  return kernel;
}

template <class T>
void blur(const ImageIn<T>& in, T* out, std::span<const float> kernel, Arena& arena) {
  const auto half = static_cast<std::int64_t>(kernel.size()) / 2;
  const std::int64_t length = in.width * in.channels;
  const auto row = static_cast<std::size_t>(length);
  const std::span<float> vertical = arena.take_array<float>(row);
  const std::span<float> padded =
      arena.take_array<float>(row + 2 * static_cast<std::size_t>(half * in.channels));
  const std::span<float> mixed = arena.take_array<float>(row);
  for (std::int64_t y = 0; y < in.height; ++y) {
    std::ranges::fill(vertical, 0.0F);
    std::ranges::fill(mixed, 0.0F);
    for (std::size_t k = 0; k < kernel.size(); ++k) {
      const std::int64_t source = reflect(y + static_cast<std::int64_t>(k) - half, in.height);
      add_weighted(in.row(source), kernel[k], vertical.data(), length);
    }
    pad_row(vertical.data(), in.width, in.channels, half, padded.data());
    for (std::size_t k = 0; k < kernel.size(); ++k) {
      add_weighted(padded.data() + static_cast<std::int64_t>(k) * in.channels, kernel[k],
                   mixed.data(), length);
    }
    T* to = out + y * length;
    for (const float value : mixed) *to++ = to_pixel<T>(value);
  }
}

template void blur(const ImageIn<std::uint8_t>&, std::uint8_t*, std::span<const float>, Arena&);
template void blur(const ImageIn<float>&, float*, std::span<const float>, Arena&);

}  // namespace cachebisect::stages
