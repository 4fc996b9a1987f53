// read.mnist over hostile gzip files: what it reads is what zlib inflates.
#include <cstring>
#include <optional>

#include "fuzz/sources.hpp"
#include <zlib.h>

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

constexpr std::size_t kMostInflated = std::size_t{1} << 20U;
constexpr std::size_t kGzipHeader = 16;
constexpr std::size_t kGzipPixels = 784;

/// Empty for what is no whole gzip file, or larger than a megabyte.
std::optional<std::string> inflated(const std::uint8_t* data, std::size_t size) {
  std::string out(kMostInflated, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  stream.next_in = const_cast<Bytef*>(data);
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int result = Z_OK;
  while (stream.avail_in > 0 && stream.avail_out > 0) {
    result = inflate(&stream, Z_FINISH);
    if (result != Z_STREAM_END) break;
    if (stream.avail_in > 0) inflateReset(&stream);
  }
  out.resize(out.size() - stream.avail_out);
  const bool whole = result == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  return whole ? std::optional(out) : std::nullopt;
}

std::string labels_for(const std::string& images) {
  std::string count = images.size() < 8 ? std::string(4, '\0') : images.substr(4, 4);
  const std::size_t items = images.size() / kGzipPixels;
  return std::string("\0\0\x08\x01", 4) + count + std::string(items, '\x03');
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(gzip)(const std::uint8_t* data, std::size_t size) {
  const auto expected = inflated(data, size);
  put_file("train-images-idx3-ubyte.gz", bytes_of(data, size));
  put_file("train-labels-idx1-ubyte", bytes_of(labels_for(expected.value_or(""))));
  const auto source = opened("read.mnist", scratch().path());
  if (!source) return 0;
  require(expected.has_value(), "what is read is a whole gzip file");
  require(expected->size() == kGzipHeader + source->size() * kGzipPixels, "all of it is images");
  read_all(*source, source->size(), [&](const Sample& sample, std::uint64_t i) {
    const auto image = bytes_of(*expected).subspan(kGzipHeader + i * kGzipPixels, kGzipPixels);
    require(same(content(sample, "image"), image), "an image is what zlib inflates");
  });
  return 0;
}
