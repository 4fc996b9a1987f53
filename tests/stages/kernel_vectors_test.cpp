// Kernels in vectors give, bit by bit, what their plain loops give, for any size and layout.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "stages/kernels/byte_map.hpp"
#include "stages/kernels/resize.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/data/memory.hpp"

using namespace cachebisect;
using namespace cachebisect::stages;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes random_bytes(std::int64_t count, std::uint64_t seed) {
  RandomStream random({.seed = seed});
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next_u32() & 0xFFU);
  return bytes;
}

Bytes channel_of(const Bytes& pixels, std::size_t channel, std::size_t channels) {
  Bytes plane;
  for (std::size_t i = channel; i < pixels.size(); i += channels) plane.push_back(pixels[i]);
  return plane;
}

/// A part of the image, resized; memory is of exactly the size that is needed, as sanitizers see.
Bytes resized(const Bytes& pixels, std::int64_t width, std::int64_t channels, const Box& box,
              std::int64_t outputs, const ResizeFilter& filter) {
  const auto height = static_cast<std::int64_t>(pixels.size()) / width / channels;
  Bytes out(static_cast<std::size_t>(2 * outputs * channels));
  Arena arena;
  resize(ImageIn<std::uint8_t>{pixels.data(), height, width, channels}, box,
         ImageOut<std::uint8_t>{out.data(), 2, outputs, channels, outputs * channels, channels, 1},
         filter, arena);
  return out;
}

void check_resize(std::int64_t width, std::int64_t outputs, const ResizeFilter& filter) {
  CAPTURE(width);
  CAPTURE(outputs);
  const Bytes pixels = random_bytes(3 * width * 3, 7);
  const std::int64_t left = width / 5;
  const Box box{0, left, 3, width - left};
  const Bytes all = resized(pixels, width, 3, box, outputs, filter);
  for (std::size_t c = 0; c < 3; ++c) {
    const Bytes plane = channel_of(pixels, c, 3);
    REQUIRE(channel_of(all, c, 3) == resized(plane, width, 1, box, outputs, filter));
  }
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// As two stages, to_float and normalize, would do it.
float expected(std::uint8_t value, float mean, float std) {
  return (unit_value(value) - mean) / std;
}

struct Layout {
  std::string name;
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::int64_t channel_stride;
};

void check_map(std::int64_t height, std::int64_t width, const std::vector<float>& means,
               const std::vector<float>& stds, std::int64_t channels, const Layout& layout) {
  CAPTURE(layout.name);
  CAPTURE(width);
  std::vector<ByteMap> maps;
  for (std::size_t c = 0; c < means.size(); ++c) maps.emplace_back(means[c], stds[c]);
  const Bytes pixels = random_bytes(height * width * channels, 3);
  const auto room = 1 + (height - 1) * layout.row_stride + (width - 1) * layout.column_stride +
                    (channels - 1) * layout.channel_stride;
  std::vector<float> out(static_cast<std::size_t>(room), -1.0F);
  map_bytes(ImageIn<std::uint8_t>{pixels.data(), height, width, channels},
            ImageOut<float>{out.data(), height, width, channels, layout.row_stride,
                            layout.column_stride, layout.channel_stride},
            maps);
  std::size_t i = 0;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < channels; ++c, ++i) {
        const std::size_t map = maps.size() == 1 ? 0 : static_cast<std::size_t>(c);
        const auto at = static_cast<std::size_t>(y * layout.row_stride + x * layout.column_stride +
                                                 c * layout.channel_stride);
        REQUIRE(bits(out[at]) == bits(expected(pixels[i], means[map], stds[map])));
      }
    }
  }
}

void check_layouts(std::int64_t height, std::int64_t width, const std::vector<float>& means,
                   const std::vector<float>& stds, std::int64_t channels) {
  const std::int64_t plane = height * width;
  check_map(height, width, means, stds, channels, {"HWC", width * channels, channels, 1});
  check_map(height, width, means, stds, channels, {"CHW", width, 1, plane});
  check_map(height, width, means, stds, channels, {"wide rows", width + 3, 1, plane + 3 * height});
  check_map(height, width, means, stds, channels, {"gaps", 2 * width * channels, 2 * channels, 2});
}

}  // namespace

TEST_CASE("RGB rows are resampled as each of their channels alone") {
  for (const char* kind : {"area", "bilinear", "bicubic"}) {
    CAPTURE(kind);
    for (const bool antialias : {true, false}) {
      for (const std::int64_t width : {1, 2, 3, 5, 6, 9, 17, 40, 131}) {
        for (std::int64_t outputs = 1; outputs <= 26; ++outputs) {
          check_resize(width, outputs, {filter_kind(kind), antialias});
        }
      }
    }
  }
}

TEST_CASE("bytes are normalised as in two steps, whatever the layout") {
  const std::vector<float> means{0.485F, 0.456F, 0.406F};
  const std::vector<float> stds{0.229F, 0.224F, 0.225F};
  for (std::int64_t width = 1; width <= 40; ++width) {
    check_layouts(2, width, means, stds, 3);
    check_layouts(2, width, {0.1307F}, {0.3081F}, 1);
  }
  check_layouts(3, 50, {0.0F}, {1.0F}, 3);
  check_layouts(3, 50, {0.5F}, {0.25F}, 4);
  check_layouts(3, 29, {0.5F, 0.25F}, {0.5F, 2.0F}, 2);
  check_layouts(3, 29, {0.1F, 0.2F, 0.3F, 0.4F, 0.5F}, {1.1F, 0.2F, 0.3F, 0.4F, 0.5F}, 5);
}

TEST_CASE("every mean and std of two digits normalises without a division, to the same bits") {
  const Bytes pixels = [] {
    Bytes all(256);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
    return all;
  }();
  std::vector<float> out(256);
  for (int m = 0; m < 100; ++m) {
    for (int s = 1; s < 100; s += 7) {
      const float mean = 0.01F * static_cast<float>(m);
      const float std = 0.01F * static_cast<float>(s);
      const std::vector<ByteMap> maps{ByteMap(mean, std)};
      REQUIRE(maps.front().divides_by_multiplying());
      map_bytes(ImageIn<std::uint8_t>{pixels.data(), 1, 256, 1},
                ImageOut<float>{out.data(), 1, 256, 1, 256, 1, 1}, maps);
      for (std::size_t i = 0; i < 256; ++i) {
        REQUIRE(bits(out[i]) == bits(expected(pixels[i], mean, std)));
      }
    }
  }
}

TEST_CASE("a std whose reciprocal is no float is divided by") {
  const float tiny = std::numeric_limits<float>::denorm_min();
  CHECK_FALSE(ByteMap(0.5F, tiny).divides_by_multiplying());
  check_layouts(2, 30, {0.5F}, {tiny}, 3);
  check_layouts(2, 30, {0.5F, 0.1F, 0.2F}, {0.2F, tiny, 0.3F}, 3);
  check_layouts(2, 30, {1e30F}, {std::numeric_limits<float>::max()}, 1);
}
