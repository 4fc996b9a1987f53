#include "stages/datasets/generate_cifar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "stages/datasets/append_samples.hpp"
#include "stages/datasets/small_random.hpp"

#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {
namespace {

constexpr unsigned kCifarSide = 32;
constexpr std::size_t kPlane = static_cast<std::size_t>(kCifarSide) * kCifarSide;
constexpr std::size_t kCifarPixels = 3 * kPlane;
constexpr std::uint64_t kCifarSeed = 0xC1FA;
constexpr std::uint64_t kCifarGrain = 1024;

using Pattern = std::array<std::int16_t, kCifarPixels>;

/// A smooth pattern for each class: three plane waves per channel.
Pattern draw_pattern(unsigned class_index) {
  constexpr float kAmplitude = 26.0F;
  SmallRandom random(kCifarSeed, 1'000'000 + class_index);
  Pattern pattern{};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (int wave = 0; wave < 3; ++wave) {
      const int fx = random.between(-3, 3);
      const int fy = random.between(0, 3);
      const float phase = random.unit();
      for (unsigned y = 0; y < kCifarSide; ++y) {
        for (unsigned x = 0; x < kCifarSide; ++x) {
          const float turns =
              static_cast<float>(fx * static_cast<int>(x) + fy * static_cast<int>(y)) / kCifarSide +
              phase;
          pattern[channel * kPlane + y * kCifarSide + x] += static_cast<std::int16_t>(
              kAmplitude * std::cos(2.0F * std::numbers::pi_v<float> * turns));
        }
      }
    }
  }
  return pattern;
}

/// The pattern shifted a little, with random brightness, contrast and noise.
void draw_sample(const Pattern& pattern, SmallRandom& random, std::byte* pixels) {
  const auto shift_x = static_cast<unsigned>(random.between(0, 7));
  const auto shift_y = static_cast<unsigned>(random.between(0, 7));
  const int contrast = random.between(128, 320);  // of 256
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const int brightness = random.between(96, 160);
    for (unsigned y = 0; y < kCifarSide; ++y) {
      const std::int16_t* row = pattern.data() + channel * kPlane +
                                std::size_t{kCifarSide} * ((y + shift_y) % kCifarSide);
      std::byte* out = pixels + channel * kPlane + std::size_t{kCifarSide} * y;
      std::uint64_t noise = 0;
      for (unsigned x = 0; x < kCifarSide; ++x) {
        noise = x % 8 == 0 ? random.next() : noise >> 8;
        const int grain = static_cast<int>(noise & 63U) - 32;
        const int value = brightness + (row[(x + shift_x) % kCifarSide] * contrast >> 8) + grain;
        out[x] = static_cast<std::byte>(std::clamp(value, 0, 255));
      }
    }
  }
}

/// Writes records [first, last) of the stream `seed`: label bytes, then the planes.
void write_records(const std::string& path, const std::vector<Pattern>& patterns, bool coarse_label,
                   std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                   const std::stop_token& stop) {
  const std::size_t label_bytes = coarse_label ? 2 : 1;
  const std::size_t record = label_bytes + kCifarPixels;
  NewFile file(path);
  append_samples(
      file, last - first, record, kCifarGrain, stop, [&](std::uint64_t i, std::byte* at) {
        SmallRandom random(seed, first + i);
        const auto label =
            static_cast<unsigned>(random.between(0, static_cast<int>(patterns.size()) - 1));
        if (coarse_label) *at = static_cast<std::byte>(label / 5);
        at[label_bytes - 1] = static_cast<std::byte>(label);
        draw_sample(patterns[label], random, at + label_bytes);
      });
}

std::vector<Pattern> draw_patterns(unsigned classes) {
  std::vector<Pattern> patterns(classes);
  for (unsigned i = 0; i < classes; ++i) patterns[i] = draw_pattern(i);
  return patterns;
}

}  // namespace

void generate_cifar10(const std::string& folder, std::uint64_t samples,
                      const std::stop_token& stop) {
  constexpr std::uint64_t kFiles = 5;
  const std::vector<Pattern> patterns = draw_patterns(10);
  for (std::uint64_t i = 0; i < kFiles; ++i) {
    write_records(folder + "/data_batch_" + std::to_string(i + 1) + ".bin", patterns, false,
                  kCifarSeed, samples * i / kFiles, samples * (i + 1) / kFiles, stop);
  }
  write_records(folder + "/test_batch.bin", patterns, false, kCifarSeed + 1, 0, samples / 5, stop);
}

void generate_cifar100(const std::string& folder, std::uint64_t samples,
                       const std::stop_token& stop) {
  const std::vector<Pattern> patterns = draw_patterns(100);
  write_records(folder + "/train.bin", patterns, true, kCifarSeed, 0, samples, stop);
  write_records(folder + "/test.bin", patterns, true, kCifarSeed + 1, 0, samples / 5, stop);
}

}  // namespace cachebisect::stages
