// A hostile archive, compressed: as it is, and what gzip makes of it. Its samples are those of what
// it unpacks to.
#include "fuzz/sources.hpp"
#include <zlib.h>

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

constexpr double kPackedBufferMb = 4;

std::string deflated(std::span<const std::byte> bytes) {
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  require(result == Z_STREAM_END, "zlib packs what fits");
  return out;
}

/// Each sample as text; "refused" if the archive is.
std::string all_samples(const std::string& path, double buffer_mb) {
  const auto source = opened("read.webdataset", path, {{"shuffle_buffer_mb", buffer_mb}});
  if (!source) return "refused";
  std::string text;
  read_all(*source, 1000, [&](const Sample& sample, std::uint64_t i) {
    const auto image = content(sample, "image");
    text += std::to_string(i) + ' ' + std::string(sample.origin().name) + ' ';
    text.append(reinterpret_cast<const char*>(image.data()), image.size());
  });
  return text;
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(tar_packed)(const std::uint8_t* data, std::size_t size) {
  const auto given = bytes_of(data, size);
  static_cast<void>(all_samples(put_file("as-it-is.tar.gz", given), kPackedBufferMb));
  const std::string packed = put_file("packed.tar.gz", bytes_of(deflated(given)));
  const std::string plain = put_file("plain.tar", given);
  // What is itself compressed stays so in one of them.
  const bool is_packed =
      size > 4 && ((data[0] == 0x1f && data[1] == 0x8b) || (data[0] == 0x28 && data[1] == 0xb5));
  if (is_packed || size > 500'000) return 0;
  require(all_samples(packed, kPackedBufferMb) == all_samples(plain, kPackedBufferMb),
          "the samples of a compressed archive are those of what it unpacks to");
  return 0;
}
