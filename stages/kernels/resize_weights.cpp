#include "stages/kernels/resize_weights.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect::stages {
namespace {

using Kind = ResizeFilter::Kind;

struct Filter {
  Kind kind;
  double a;  ///< the parameter of bicubic

  [[nodiscard]] double support() const noexcept {
    return kind == Kind::area ? 0.5 : kind == Kind::bilinear ? 1.0 : 2.0;
  }
  [[nodiscard]] double operator()(double x) const noexcept {
    if (kind == Kind::area) return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
    x = std::abs(x);
    if (kind == Kind::bilinear) return x < 1 ? 1 - x : 0.0;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
  }
};

// The source pixels that one output is computed from.
struct Window {
  std::int64_t first;
  std::int64_t count;
};

// Like Pillow: the window is cut at the border and the remaining weights are scaled to sum to 1.
Window cut_window(double center, double support, double scale, std::int64_t length,
                  const Filter& filter, float* weights) {
  const auto low = std::max<std::int64_t>(static_cast<std::int64_t>(center - support + 0.5), 0);
  const auto high = std::min(static_cast<std::int64_t>(center + support + 0.5), length);
  double sum = 0;
  for (std::int64_t i = low; i < high; ++i) {
    const double weight = filter((static_cast<double>(i) - center + 0.5) / scale);
    weights[i - low] = static_cast<float>(weight);
    sum += weight;
  }
  if (sum != 0) {
    for (std::int64_t i = 0; i < high - low; ++i)
      weights[i] = static_cast<float>(static_cast<double>(weights[i]) / sum);
  }
  return {low, high - low};
}

// Without antialias: pixels beyond the border repeat the border pixel.
Window clamped_window(double center, double support, std::int64_t length, const Filter& filter,
                      float* weights) {
  const auto reach = static_cast<std::int64_t>(support);
  const auto base = static_cast<std::int64_t>(std::floor(center - 0.5)) - reach + 1;
  const std::int64_t low = std::clamp<std::int64_t>(base, 0, length - 1);
  const std::int64_t high = std::clamp<std::int64_t>(base + 2 * reach - 1, 0, length - 1);
  std::fill(weights, weights + (high - low + 1), 0.0F);
  for (std::int64_t i = base; i < base + 2 * reach; ++i) {
    const std::int64_t at = std::clamp<std::int64_t>(i, 0, length - 1);
    weights[at - low] += static_cast<float>(filter(static_cast<double>(i) - center + 0.5));
  }
  return {low, high - low + 1};
}

// The most bits for which the largest weight fits in 16 bits and a weighted sum in 32.
int choose_precision(const float* weights, std::int64_t count) {
  float largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(weights[i]));
  int precision = 0;
  while (precision < 21 && largest * static_cast<float>(1 << (precision + 1)) < 32767.0F)
    ++precision;
  return precision;
}

std::int16_t* make_fixed(const float* weights, std::int64_t count, int precision, Arena& arena) {
  const std::int64_t room = count + AxisWeights::kReadable;
  std::int16_t* fixed = arena.take_array<std::int16_t>(static_cast<std::size_t>(room)).data();
  const auto unit = static_cast<float>(1 << precision);
  for (std::int64_t i = 0; i < count; ++i)
    fixed[i] = static_cast<std::int16_t>(std::lrint(weights[i] * unit));
  return fixed;
}

}  // namespace

AxisWeights make_weights(std::int64_t start, std::int64_t length, std::int64_t outputs,
                         const ResizeFilter& filter, Arena& arena) {
  const auto size = static_cast<std::size_t>(outputs);
  auto* first = arena.take_array<std::int32_t>(size).data();
  AxisWeights axis;
  axis.first = first;
  if (length == outputs) {
    for (std::size_t i = 0; i < size; ++i)
      first[i] = static_cast<std::int32_t>(start) + static_cast<std::int32_t>(i);
    axis.identity = true;
    return axis;
  }
  const bool widen = filter.antialias || filter.kind == Kind::area;
  const Filter shape{filter.kind, widen ? -0.5 : -0.75};
  const double ratio = static_cast<double>(length) / static_cast<double>(outputs);
  const double scale = widen ? std::max(ratio, 1.0) : 1.0;
  const double support = shape.support() * scale;
  axis.taps = (static_cast<std::int64_t>(std::ceil(support)) * 2 + 1 + 3) / 4 * 4;
  const std::int64_t total = axis.taps * outputs;
  auto* count = arena.take_array<std::int32_t>(size).data();
  float* real = arena.take_array<float>(static_cast<std::size_t>(total)).data();
  std::fill(real, real + total, 0.0F);
  for (std::int64_t i = 0; i < outputs; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * ratio;
    float* weights = real + i * axis.taps;
    const Window window = widen ? cut_window(center, support, scale, length, shape, weights)
                                : clamped_window(center, support, length, shape, weights);
    first[i] = static_cast<std::int32_t>(start + window.first);
    count[i] = static_cast<std::int32_t>(window.count);
    axis.most = std::max(axis.most, count[i]);
  }
  axis.count = count;
  axis.real = real;
  axis.precision = choose_precision(real, total);
  axis.fixed = make_fixed(real, total, axis.precision, arena);
  return axis;
}

const std::int32_t* nearest_sources(std::int64_t start, std::int64_t length, std::int64_t outputs,
                                    Arena& arena) {
  auto* sources = arena.take_array<std::int32_t>(static_cast<std::size_t>(outputs)).data();
  const double ratio = static_cast<double>(length) / static_cast<double>(outputs);
  double at = ratio * 0.5;
  for (std::int64_t i = 0; i < outputs; ++i, at += ratio) {
    sources[i] =
        static_cast<std::int32_t>(start + std::min(static_cast<std::int64_t>(at), length - 1));
  }
  return sources;
}

}  // namespace cachebisect::stages
