#include "stages/datasets/unpacker.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "stages/codecs/byte_reader.hpp"
#include "stages/datasets/gzip.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/shell_word.hpp"
#ifdef CACHEBISECT_WITH_CODECS
#include <zstd.h>
#endif

namespace cachebisect::stages {
namespace {

constexpr std::size_t kPieceOfContent = std::size_t{1} << 20U;
/// Far less than any archive of images compresses to; not looked at before so many bytes.
constexpr std::uint64_t kMostTimes = 200;
constexpr std::uint64_t kFreeBytes = std::uint64_t{16} << 20U;

class GzipUnpacker final : public Unpacker {
 public:
  explicit GzipUnpacker(const std::string& path) : reader_(path) {}
  std::size_t read(std::span<std::byte> out) override { return reader_.read_some(out); }
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return reader_.consumed(); }

 private:
  GzipReader reader_;
};

#ifdef CACHEBISECT_WITH_CODECS
class ZstdUnpacker final : public Unpacker {
 public:
  explicit ZstdUnpacker(std::string path) : file_(std::move(path)), stored_(ZSTD_DStreamInSize()) {
    // A frame claims its window, which is taken before anything is read: 32 MiB is more than any
    // level of `zstd` but --ultra has.
    constexpr int kMostWindow = 25;
    if (stream_ == nullptr) fail("not enough memory to unpack it");
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kMostWindow);
  }

  std::size_t read(std::span<std::byte> out) override {
    ZSTD_outBuffer made{out.data(), out.size(), 0};
    while (made.pos < made.size) {
      if (input_.pos == input_.size && !refill()) break;
      const std::size_t before = made.pos + input_.pos;
      left_ = ZSTD_decompressStream(stream_.get(), &made, &input_);
      if (ZSTD_isError(left_) != 0) {
        fail(std::string("is damaged Zstandard data, or needs a window above 32 MiB: ") +
             ZSTD_getErrorName(left_));
      }
      if (made.pos + input_.pos == before && input_.pos == input_.size && !refill()) break;
    }
    if (made.pos < made.size && left_ != 0) {
      fail("the Zstandard data ends too early; the file is cut short");
    }
    return made.pos;
  }
  [[nodiscard]] std::uint64_t consumed() const noexcept override {
    return offset_ - (input_.size - input_.pos);
  }

 private:
  bool refill() {
    const std::uint64_t left = file_.size() - offset_;
    const std::size_t bytes = std::min<std::uint64_t>(stored_.size(), left);
    file_.read(offset_, std::span(stored_).first(bytes));
    offset_ += bytes;
    input_ = {stored_.data(), bytes, 0};
    return bytes > 0;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::data, file_.path() + ": " + what);
  }

  InputFile file_;
  std::vector<std::byte> stored_;
  std::uint64_t offset_ = 0;  // in the file
  ZSTD_inBuffer input_{nullptr, 0, 0};
  std::size_t left_ = 0;  ///< 0: a frame has ended
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> stream_{ZSTD_createDCtx(), ZSTD_freeDCtx};
};
#endif

/// In pieces, so that it takes no more than it has while it grows.
class UnpackedBytes final : public ByteSource {
 public:
  UnpackedBytes(std::string path, std::vector<std::vector<std::byte>> pieces, std::uint64_t size)
      : ByteSource(std::move(path), size), pieces_(std::move(pieces)) {}

  [[nodiscard]] bool is_remote() const noexcept override { return false; }
  void read(std::uint64_t offset, std::span<std::byte> first,
            std::span<std::byte> second) const override {
    copy(offset, first);
    copy(offset + first.size(), second);
  }

 private:
  void copy(std::uint64_t offset, std::span<std::byte> out) const {
    if (offset > size() || out.size() > size() - offset) {
      throw Error(ErrorKind::data, path() + ": ends within the " + std::to_string(out.size()) +
                                       " bytes from byte " + std::to_string(offset));
    }
    while (!out.empty()) {
      const std::size_t at = offset % kPieceOfContent;
      const auto piece = std::span(pieces_[offset / kPieceOfContent]).subspan(at);
      const std::size_t here = std::min(piece.size(), out.size());
      std::ranges::copy(piece.first(here), out.begin());
      out = out.subspan(here);
      offset += here;
    }
  }

  std::vector<std::vector<std::byte>> pieces_;
};

void check_unpacked(const std::string& path, Packing packing, std::uint64_t consumed,
                    std::uint64_t bytes, std::uint64_t most_bytes, std::string_view ending) {
  const bool is_bomb = bytes > kFreeBytes && bytes / kMostTimes > consumed;
  if (bytes <= most_bytes && !is_bomb) return;
  const std::string limit = is_bomb ? std::to_string(kMostTimes) + " times its bytes; "
                                    : format_bytes(static_cast<double>(most_bytes)) +
                                          ", a quarter of shuffle_buffer_mb; give more, or ";
  throw Error(ErrorKind::data, path + ": unpacks to more than " + limit +
                                   "unpack it once: " + packing_name(packing).command + " " +
                                   shell_word(path) + " > NEW" + std::string(ending));
}

}  // namespace

Unpacker::~Unpacker() = default;

Packing packing_of(const ByteSource& file) {
  std::array<std::byte, 4> magic{};
  if (file.size() < magic.size()) return Packing::none;
  file.read(0, magic);
  if (has_text(magic, 0, "\x1f\x8b")) return Packing::gzip;
  return has_text(magic, 0, "\x28\xb5\x2f\xfd") ? Packing::zstd : Packing::none;
}

PackingName packing_name(Packing packing) {
  if (packing == Packing::zstd) return {"Zstandard", "zstd -dc"};
  return {"gzip", "gunzip -c"};
}

std::unique_ptr<Unpacker> make_unpacker(const std::string& path, Packing packing) {
  if (packing == Packing::gzip) return std::make_unique<GzipUnpacker>(path);
#ifdef CACHEBISECT_WITH_CODECS
  return std::make_unique<ZstdUnpacker>(path);
#else
  throw Error(ErrorKind::usage, path +
                                    ": this build has no Zstandard (libzstd), by which it is "
                                    "compressed; build with CACHEBISECT_WITH_CODECS=ON, or unpack "
                                    "it once: zstd -dc");
#endif
}

std::unique_ptr<const ByteSource> unpack(const std::string& path, Packing packing,
                                         std::uint64_t most_bytes, std::string_view ending) {
  const auto unpacker = make_unpacker(path, packing);
  std::vector<std::vector<std::byte>> pieces;
  std::uint64_t bytes = 0;
  for (;;) {
    std::vector<std::byte> piece(kPieceOfContent);
    const std::size_t made = unpacker->read(piece);
    bytes += made;
    check_unpacked(path, packing, unpacker->consumed(), bytes, most_bytes, ending);
    const bool is_last = made < piece.size();
    piece.resize(made);
    if (made > 0) pieces.push_back(std::move(piece));
    if (is_last) break;
  }
  return std::make_unique<const UnpackedBytes>(path, std::move(pieces), bytes);
}

void unpack_into(const std::string& path, Packing packing, std::span<std::byte> out) {
  const auto unpacker = make_unpacker(path, packing);
  std::byte more{};
  if (unpacker->read(out) == out.size() && unpacker->read({&more, 1}) == 0) return;
  throw Error(ErrorKind::data, path +
                                   ": unpacks to another size than when it was indexed; it was "
                                   "changed while it was in use");
}

}  // namespace cachebisect::stages
