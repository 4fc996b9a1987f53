// read.mnist over a hostile file of images, plain or held in memory.
#include "fuzz/sources.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

constexpr std::size_t kIdxHeader = 16;
constexpr std::size_t kIdxPixels = 784;
constexpr std::uint32_t kMostIdxLabels = 4096;

/// Labels for as many images as the header claims, so that these are read.
void put_labels(std::span<const std::byte> images) {
  std::uint32_t count = 0;
  for (std::size_t i = 4; i < 8 && i < images.size(); ++i) {
    count = count << 8U | std::to_integer<std::uint32_t>(images[i]);
  }
  std::string labels("\0\0\x08\x01", 4);
  for (int shift = 24; shift >= 0; shift -= 8) labels += static_cast<char>(count >> shift & 255U);
  labels.resize(8 + std::min(count, kMostIdxLabels), '\x07');
  put_file("train-labels-idx1-ubyte", bytes_of(labels));
}

void check(std::span<const std::byte> images, bool in_memory) {
  const auto source = opened("read.mnist", scratch().path(), {{"in_memory", in_memory}});
  if (!source) return;
  require(images.size() == kIdxHeader + source->size() * kIdxPixels, "all of the file is images");
  const std::uint64_t good =
      read_all(*source, kMostIdxLabels, [&](const Sample& sample, std::uint64_t i) {
        require(
            same(content(sample, "image"), images.subspan(kIdxHeader + i * kIdxPixels, kIdxPixels)),
            "an image is the bytes of the file");
        require(sample.field("label").as_integer() == 7, "a label is that of the file");
      });
  require(good == source->size(), "each sample of a file that was opened can be read");
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(idx)(const std::uint8_t* data, std::size_t size) {
  const auto images = bytes_of(data, size);
  put_file("train-images-idx3-ubyte", images);
  put_labels(images);
  check(images, false);
  check(images, true);
  return 0;
}
