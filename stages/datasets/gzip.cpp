#include "stages/datasets/gzip.hpp"

#include <array>

#include "stages/datasets/file.hpp"
#include <zlib.h>

namespace cachebisect::stages {
namespace {

/// Owns zlib's state.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK)
      throw Error(ErrorKind::data, "not enough memory to inflate a gzip file");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  z_stream& stream() noexcept { return stream_; }

 private:
  z_stream stream_{};
};

/// Gives the stream more of the file when its input is used up; false at the end of the file.
bool refill(z_stream& stream, const InputFile& file, std::uint64_t& offset,
            std::span<std::byte> buffer) {
  if (stream.avail_in > 0) return true;
  if (offset == file.size()) return false;
  const auto bytes = std::min<std::uint64_t>(buffer.size(), file.size() - offset);
  file.read(offset, buffer.first(bytes));
  offset += bytes;
  stream.next_in = reinterpret_cast<Bytef*>(buffer.data());
  stream.avail_in = static_cast<uInt>(bytes);
  return true;
}

}  // namespace

std::vector<std::byte> read_gzip(const std::string& path, std::uint64_t limit) {
  const InputFile file(path);
  std::vector<std::byte> compressed(std::size_t{1} << 18);
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  std::vector<std::byte> content;
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::uint64_t offset = 0;
  bool between_members = false;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::data, path + ": " + what);
  };
  for (;;) {
    if (!refill(stream, file, offset, compressed)) {
      if (between_members) return content;
      fail("the gzip data ends too early; the file is truncated");
    }
    if (between_members) inflateReset(&stream);
    between_members = false;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      fail(std::string("is not a valid gzip file: ") +
           (stream.msg != nullptr ? stream.msg : "damaged data"));
    }
    const std::size_t made = chunk.size() - stream.avail_out;
    if (content.size() + made > limit)
      fail("inflates to over " + std::to_string(limit) +
           " bytes, more than this kind of file may have");
    content.insert(content.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(made));
    between_members = result == Z_STREAM_END;
  }
}

}  // namespace cachebisect::stages
