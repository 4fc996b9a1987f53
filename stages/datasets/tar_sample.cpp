#include "stages/datasets/tar_sample.hpp"

#include <cstdint>
#include <string>

#include "stages/datasets/whole_runs.hpp"

namespace cachebisect::stages {
namespace {

/// What may lie between image and label if both are read at once: their headers, small members.
constexpr std::uint64_t kMostBetween = 16'384;

bool is_read_at_once(const TarSample& sample) noexcept {
  const std::uint64_t members = std::uint64_t{sample.image_bytes} + sample.label_bytes;
  return sample.end() - sample.begin() - members <= kMostBetween;
}

}  // namespace

std::span<const std::byte> read_tar_sample(const TarSet::Place& place, std::span<std::byte> image,
                                           Arena& arena) {
  const TarSample& sample = place.sample();
  const TarFile& tar = *place.tar;
  if (!is_read_at_once(sample)) {
    const auto label = arena.take(sample.label_bytes);
    tar.read(sample.image_offset, image);
    tar.read(sample.label_offset, label);
    return label;
  }
  const auto rest = arena.take(sample.end() - sample.begin() - image.size());
  if (sample.image_offset < sample.label_offset) {
    tar.read(sample.image_offset, image, rest);
    return rest.last(sample.label_bytes);
  }
  tar.read(sample.label_offset, rest, image);
  return rest.first(sample.label_bytes);
}

std::vector<FileRange> places_of(const TarSet::Place& place, bool as_a_whole) {
  const TarSample& sample = place.sample();
  const std::string& path = place.tar->path();
  if (as_a_whole) {
    const FileRange whole{path, 0, place.tar->stored_bytes()};
    return {share_of(whole, place.number, place.tar->index().samples.size())};
  }
  if (is_read_at_once(sample)) return {{path, sample.begin(), sample.end() - sample.begin()}};
  return {{path, sample.image_offset, sample.image_bytes},
          {path, sample.label_offset, sample.label_bytes}};
}

}  // namespace cachebisect::stages
