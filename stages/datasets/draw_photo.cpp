#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "stages/datasets/generate_photos.hpp"
#include "stages/datasets/small_random.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kSeed = 0xF070;
constexpr int kMinLeaves = 1000;
constexpr int kMaxLeaves = 4600;
constexpr std::size_t kChannels = 3;

/// A disc with one surface.
struct Leaf {
  std::array<int, kChannels> color{};
  int slope_x = 0;  ///< shading, 1/64 levels per pixel
  int slope_y = 0;
  int grain = 0;  ///< amplitude of the texture, 1/64 levels
};

using LeafMap = std::vector<std::uint16_t>;  // the visible leaf at each pixel

struct Scene {
  std::vector<Leaf> leaves;
  LeafMap map;
};

Leaf draw_leaf(SmallRandom& random, const std::array<int, kChannels>& tint, int roughness) {
  Leaf leaf;
  const int brightness = random.between(20, 235);
  for (std::size_t c = 0; c < kChannels; ++c)
    leaf.color.at(c) = brightness + tint.at(c) + random.between(-28, 28);
  leaf.slope_x = random.between(-20, 20);
  leaf.slope_y = random.between(-20, 20);
  leaf.grain = random.between(0, 4) == 0 ? roughness * 2 : random.between(roughness / 8, roughness);
  return leaf;
}

/// Radii follow r^-3, which makes the model scale invariant.
float draw_radius(SmallRandom& random) {
  constexpr float kMinRadius = 3.0F;
  constexpr float kRatio = kMinRadius / 180.0F;
  return kMinRadius / std::sqrt(1.0F - random.unit() * (1.0F - kRatio * kRatio));
}

void paint_disc(LeafMap& map, const RgbImage& image, SmallRandom& random, std::uint16_t leaf) {
  const int width = static_cast<int>(image.width);
  const int height = static_cast<int>(image.height);
  const auto radius = static_cast<int>(draw_radius(random));
  const int centre_x = random.between(-radius, width + radius);
  const int centre_y = random.between(-radius, height + radius);
  for (int y = std::max(0, centre_y - radius); y < std::min(height, centre_y + radius + 1); ++y) {
    const int dy = y - centre_y;
    const int half = static_cast<int>(std::sqrt(static_cast<float>(radius * radius - dy * dy)));
    const int from = std::clamp(centre_x - half, 0, width);
    const int to = std::clamp(centre_x + half + 1, 0, width);
    std::fill(map.begin() + y * width + from, map.begin() + y * width + to, leaf);
  }
}

Scene draw_scene(const RgbImage& image, SmallRandom& random, unsigned class_index) {
  SmallRandom class_random(kSeed, 1'000'000'007ULL + class_index);
  std::array<int, kChannels> tint{};
  for (int& shift : tint) shift = class_random.between(-40, 40);
  const int roughness = random.between(250, 2600);
  const int leaves = random.between(kMinLeaves, kMaxLeaves);
  Scene scene;
  scene.map.resize(std::size_t{image.width} * image.height);
  scene.leaves.reserve(static_cast<std::size_t>(leaves));
  for (int i = 0; i < leaves; ++i) {
    if (i > 0) paint_disc(scene.map, image, random, static_cast<std::uint16_t>(i));
    scene.leaves.push_back(draw_leaf(random, tint, roughness));
  }
  return scene;
}

std::uint8_t to_level(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

/// A triangle wave of period 256 between -64 and 64.
int folded(unsigned position) { return std::abs(static_cast<int>(position % 256) - 128) - 64; }

/// Gives every pixel the colour, shading and grain of its leaf.
void shade(const Scene& scene, RgbImage& image, SmallRandom& random) {
  std::uint8_t* out = image.pixels.data();
  const std::uint16_t* seen = scene.map.data();
  for (unsigned y = 0; y < image.height; ++y) {
    int drift = 0;  // grain is correlated along the row, as from a lens and a sensor
    for (unsigned x = 0; x < image.width; ++x, out += kChannels) {
      const Leaf& leaf = scene.leaves[*seen++];
      const std::uint64_t bits = random.next();
      const int white = static_cast<int>(bits & 63U) + static_cast<int>(bits >> 6U & 63U) - 63;
      drift = (drift + white) / 2;
      const int light =
          (leaf.slope_x * folded(x) + leaf.slope_y * folded(y)) / 64 + leaf.grain * drift / 2048;
      for (std::size_t c = 0; c < kChannels; ++c) {
        const int color_noise = static_cast<int>(bits >> (16 + 4 * c) & 7U) - 4;
        out[c] = to_level(leaf.color[c] + light + color_noise);
      }
    }
  }
}

/// Blurs like a lens: weights 1-2-1 along rows and columns.
void soften(RgbImage& image) {
  const std::size_t row = kChannels * image.width;
  std::vector<std::uint8_t>& p = image.pixels;
  for (unsigned y = 0; y < image.height; ++y) {
    std::uint8_t* line = p.data() + y * row;
    std::array<unsigned, kChannels> before{line[0], line[1], line[2]};
    for (std::size_t i = 0; i + kChannels < row; ++i) {
      const unsigned here = line[i];
      line[i] = static_cast<std::uint8_t>(
          (before[i % kChannels] + 2U * here + line[i + kChannels] + 2U) / 4U);
      before[i % kChannels] = here;
    }
  }
  std::vector<std::uint8_t> above(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(row));
  for (unsigned y = 0; y + 1 < image.height; ++y) {
    std::uint8_t* line = p.data() + y * row;
    for (std::size_t i = 0; i < row; ++i) {
      const std::uint8_t here = line[i];
      line[i] = static_cast<std::uint8_t>((above[i] + 2U * here + line[i + row] + 2U) / 4U);
      above[i] = here;
    }
  }
}

RgbImage blank(std::uint64_t index) {
  // Six in ten are 500x375; the others are upright or slightly lower.
  const std::uint64_t kind = (index + index / 10) % 10;
  if (kind < 6) return {500, 375, {}};
  if (kind < 8) return {375, 500, {}};
  return {500, 333, {}};
}

}  // namespace

RgbImage draw_photo(std::uint64_t index, unsigned class_index) {
  RgbImage image = blank(index);
  image.pixels.resize(kChannels * image.width * image.height);
  SmallRandom random(kSeed, index);
  const Scene scene = draw_scene(image, random, class_index);
  shade(scene, image, random);
  soften(image);
  return image;
}

}  // namespace cachebisect::stages
