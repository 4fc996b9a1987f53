// read.cifar10 and read.cifar100 over a hostile file.
#include "fuzz/sources.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

constexpr std::size_t kCifarPixels = 3072;

void check(const std::string& type, std::span<const std::byte> file, std::size_t label_bytes,
           std::int64_t classes) {
  const auto source = opened(type, scratch().path("data.bin"));
  if (!source) return;
  const std::size_t record = label_bytes + kCifarPixels;
  require(file.size() == source->size() * record, "all of the file is records");
  read_all(*source, source->size(), [&](const Sample& sample, std::uint64_t i) {
    const auto expected = file.subspan(i * record, record);
    require(same(content(sample, "image"), expected.last(kCifarPixels)),
            "an image is the bytes of the file");
    const std::int64_t label = sample.field("label").as_integer();
    require(label == std::to_integer<std::int64_t>(expected[label_bytes - 1]) && label < classes,
            "a label is that of the file, and of the data set");
  });
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(cifar)(const std::uint8_t* data, std::size_t size) {
  const auto file = bytes_of(data, size);
  put_file("data.bin", file);
  check("read.cifar10", file, 1, 10);
  check("read.cifar100", file, 2, 100);
  return 0;
}
