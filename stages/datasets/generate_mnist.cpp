#include "stages/datasets/generate_mnist.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stages/datasets/append_samples.hpp"
#include "stages/datasets/idx.hpp"
#include "stages/datasets/small_random.hpp"

#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {
namespace {

constexpr int kMnistSide = 28;
constexpr std::size_t kMnistPixels = static_cast<std::size_t>(kMnistSide) * kMnistSide;
constexpr std::uint64_t kMnistSeed = 0x3A15;
constexpr std::uint64_t kMnistGrain = 4096;

struct Point {
  float x;
  float y;
};
struct Segment {
  Point from;
  Point to;
};

// A seven-segment display: top, upper left, upper right, middle, lower left, lower right, bottom.
constexpr std::array<Segment, 7> kSegments{{{{9, 5}, {19, 5}},
                                            {{9, 5}, {9, 14}},
                                            {{19, 5}, {19, 14}},
                                            {{9, 14}, {19, 14}},
                                            {{9, 14}, {9, 23}},
                                            {{19, 14}, {19, 23}},
                                            {{9, 23}, {19, 23}}}};
constexpr std::array<unsigned, 10> kDigits{0b1110111, 0b0100100, 0b1011101, 0b1101101, 0b0101110,
                                           0b1101011, 0b1111011, 0b0100101, 0b1111111, 0b1101111};

float distance(Point p, const Segment& s) {
  const float dx = s.to.x - s.from.x;
  const float dy = s.to.y - s.from.y;
  const float t =
      std::clamp(((p.x - s.from.x) * dx + (p.y - s.from.y) * dy) / (dx * dx + dy * dy), 0.0F, 1.0F);
  const float ex = p.x - s.from.x - t * dx;
  const float ey = p.y - s.from.y - t * dy;
  return std::sqrt(ex * ex + ey * ey);
}

using Glyph = std::array<std::uint8_t, kMnistPixels>;

Glyph draw_digit(unsigned digit) {
  constexpr float kHalfWidth = 1.6F;
  Glyph glyph{};
  for (std::size_t i = 0; i < kMnistPixels; ++i) {
    const std::size_t row = i / kMnistSide;
    const Point p{static_cast<float>(i % kMnistSide), static_cast<float>(row)};
    float nearest = 1e9F;
    for (std::size_t s = 0; s < kSegments.size(); ++s) {
      if ((kDigits.at(digit) >> s & 1U) != 0)
        nearest = std::min(nearest, distance(p, kSegments[s]));
    }
    glyph[i] =
        static_cast<std::uint8_t>(255.0F * std::clamp(kHalfWidth + 0.5F - nearest, 0.0F, 1.0F));
  }
  return glyph;
}

/// The glyph shifted and slanted, with a random stroke strength and noise.
void draw_sample(const Glyph& glyph, SmallRandom& random, std::byte* pixels) {
  const int shift_x = random.between(-4, 4);
  const int shift_y = random.between(-4, 4);
  const int slant = random.between(-24, 24);  // 1/64 columns per row
  const int strength = random.between(150, 256);
  for (int y = 0; y < kMnistSide; ++y) {
    const int from_y = y - shift_y;
    const int slanted = shift_x + (slant * (kMnistSide / 2 - y)) / 64;
    std::uint64_t noise = 0;
    for (int x = 0; x < kMnistSide; ++x) {
      noise = x % 8 == 0 ? random.next() : noise >> 8;
      const int from_x = x - slanted;
      const bool inside = from_x >= 0 && from_x < kMnistSide && from_y >= 0 && from_y < kMnistSide;
      const int ink = inside ? glyph[static_cast<std::size_t>(from_y * kMnistSide + from_x)] : 0;
      const int value = (ink * strength >> 8) - static_cast<int>(noise & 31U);
      pixels[y * kMnistSide + x] = static_cast<std::byte>(std::clamp(value, 0, 255));
    }
  }
}

void write_split(const std::string& prefix, std::uint64_t samples, std::uint64_t seed,
                 const std::stop_token& stop) {
  std::array<Glyph, 10> glyphs{};
  for (unsigned digit = 0; digit < glyphs.size(); ++digit) glyphs.at(digit) = draw_digit(digit);
  const std::array<std::uint32_t, 3> dims{static_cast<std::uint32_t>(samples), kMnistSide,
                                          kMnistSide};
  std::vector<std::byte> labels = idx_header(std::span(dims).first(1));
  const std::size_t label_header = labels.size();
  labels.resize(label_header + samples);
  NewFile images(prefix + "-images-idx3-ubyte");
  images.append(idx_header(dims));
  append_samples(images, samples, kMnistPixels, kMnistGrain, stop,
                 [&](std::uint64_t i, std::byte* pixels) {
                   SmallRandom random(seed, i);
                   const auto digit = static_cast<std::size_t>(random.between(0, 9));
                   labels[label_header + i] = static_cast<std::byte>(digit);
                   draw_sample(glyphs.at(digit), random, pixels);
                 });
  write_file(prefix + "-labels-idx1-ubyte", labels);
}

}  // namespace

void generate_mnist(const std::string& folder, std::uint64_t samples, const std::stop_token& stop) {
  write_split(folder + "/train", samples, kMnistSeed, stop);
  write_split(folder + "/t10k", std::max<std::uint64_t>(1, samples / 6), kMnistSeed + 1, stop);
}

}  // namespace cachebisect::stages
