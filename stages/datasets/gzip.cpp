#include "stages/datasets/gzip.hpp"

#include <algorithm>
#include <utility>

namespace cachebisect::stages {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
constexpr std::uint64_t kMaxRatio = 1032;  // of DEFLATE: 258 bytes in two bits

}  // namespace

GzipReader::GzipReader(std::string path) : file_(std::move(path)), compressed_(kPieceBytes) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(&stream_, kGzipOnly) != Z_OK) fail("not enough memory to inflate it");
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

void GzipReader::fail(const std::string& what) const {
  throw Error(ErrorKind::data, file_.path() + ": " + what);
}

std::uint64_t GzipReader::max_bytes() const noexcept { return kMaxRatio * file_.size(); }

void GzipReader::read(std::span<std::byte> out) {
  if (read_some(out) == out.size()) return;
  fail("the gzip data ends too early; the file is truncated or damaged");
}

std::size_t GzipReader::read_some(std::span<std::byte> out) {
  constexpr std::size_t kMaxPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t made =
        inflate_some(out.subspan(done, std::min(out.size() - done, kMaxPiece)));
    if (made == 0) break;
    done += made;
  }
  return done;
}

bool GzipReader::at_end() {
  std::byte next{};
  return inflate_some({&next, 1}) == 0;
}

bool GzipReader::refill() {
  if (stream_.avail_in > 0) return true;
  if (offset_ == file_.size()) return false;
  const auto bytes = std::min<std::uint64_t>(compressed_.size(), file_.size() - offset_);
  file_.read(offset_, std::span(compressed_).first(bytes));
  offset_ += bytes;
  stream_.next_in = reinterpret_cast<Bytef*>(compressed_.data());
  stream_.avail_in = static_cast<uInt>(bytes);
  return true;
}

std::size_t GzipReader::inflate_some(std::span<std::byte> out) {
  for (;;) {
    if (!refill()) {
      if (between_members_) return 0;
      fail("the gzip data ends too early; the file is truncated");
    }
    if (between_members_) inflateReset(&stream_);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      fail(std::string("is not a valid gzip file: ") +
           (stream_.msg != nullptr ? stream_.msg : "damaged data"));
    }
    between_members_ = result == Z_STREAM_END;
    if (const std::size_t made = out.size() - stream_.avail_out; made > 0) return made;
  }
}

}  // namespace cachebisect::stages
