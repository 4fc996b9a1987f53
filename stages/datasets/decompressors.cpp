#include <limits>
#include <memory>
#include <string>

#include "stages/datasets/zarr_decoder.hpp"
#include <zlib.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/object_pool.hpp"
#ifdef CACHEBISECT_WITH_BLOSC
#include <blosc.h>
#endif
#ifdef CACHEBISECT_WITH_CODECS
#include <zstd.h>
#endif

namespace cachebisect::stages {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::data, what); }

class InflateStream {
 public:
  InflateStream() {
    constexpr int kGzipOrZlib = 32 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOrZlib) != Z_OK) fail("needs memory that is not there");
  }
  ~InflateStream() { inflateEnd(&stream_); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  void run(std::span<const std::byte> stored, std::span<std::byte> out) {
    inflateReset(&stream_);
    // zlib's interface is older than const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stored.data()));
    stream_.avail_in = static_cast<uInt>(stored.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&stream_, Z_FINISH);
    if (result == Z_STREAM_END && stream_.avail_out == 0 && stream_.avail_in == 0) return;
    if (result == Z_STREAM_END) {
      fail("holds " + std::to_string(stream_.total_out) + " bytes instead of " +
           std::to_string(out.size()));
    }
    if (stream_.avail_out == 0) fail("holds more than " + std::to_string(out.size()) + " bytes");
    fail(std::string("is no gzip or zlib data: ") +
         (stream_.msg != nullptr ? stream_.msg : "it ends too early"));
  }

 private:
  z_stream stream_{};
};

class Inflate final : public Decompressor {
 public:
  void expand(std::span<const std::byte> stored, std::span<std::byte> out) const override {
    static_assert(ZarrArray::kMostChunkBytes * 2 < std::numeric_limits<uInt>::max());
    streams_.borrow()->run(stored, out);
  }

 private:
  mutable ObjectPool<InflateStream> streams_;
};

#ifdef CACHEBISECT_WITH_CODECS
struct ZstdContext {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{ZSTD_createDCtx(), ZSTD_freeDCtx};
};

class ZstdFrames final : public Decompressor {
 public:
  void expand(std::span<const std::byte> stored, std::span<std::byte> out) const override {
    const auto loan = contexts_.borrow();
    const std::size_t made = ZSTD_decompressDCtx(loan->context.get(), out.data(), out.size(),
                                                 stored.data(), stored.size());
    if (ZSTD_isError(made) != 0)
      fail(std::string("is no Zstandard data: ") + ZSTD_getErrorName(made));
    if (made != out.size())
      fail("holds " + std::to_string(made) + " bytes instead of " + std::to_string(out.size()));
  }

 private:
  mutable ObjectPool<ZstdContext> contexts_;
};
#endif

#ifdef CACHEBISECT_WITH_BLOSC
class BloscFrame final : public Decompressor {
 public:
  void expand(std::span<const std::byte> stored, std::span<std::byte> out) const override {
    std::size_t claimed = 0;
    if (blosc_cbuffer_validate(stored.data(), stored.size(), &claimed) != 0) {
      fail("is no Blosc data: its header does not match its " + std::to_string(stored.size()) +
           " bytes");
    }
    if (claimed != out.size())
      fail("claims " + std::to_string(claimed) + " bytes instead of " + std::to_string(out.size()));
    const int made = blosc_decompress_ctx(stored.data(), out.data(), out.size(), 1);
    if (made >= 0 && static_cast<std::size_t>(made) == out.size()) return;
    fail("is damaged, or was compressed by what this libblosc lacks (Blosc error " +
         std::to_string(made) + ")");
  }
};
#endif

}  // namespace

std::unique_ptr<Decompressor> make_decompressor(ZarrCodec codec) {
  if (codec == ZarrCodec::gzip || codec == ZarrCodec::zlib) return std::make_unique<Inflate>();
  if (codec == ZarrCodec::zstd) {
#ifdef CACHEBISECT_WITH_CODECS
    return std::make_unique<ZstdFrames>();
#else
    throw Error(ErrorKind::usage,
                "this build has no Zstandard (libzstd), by which the chunks are compressed; build "
                "with CACHEBISECT_WITH_CODECS=ON, or write the array with gzip");
#endif
  }
#ifdef CACHEBISECT_WITH_BLOSC
  return std::make_unique<BloscFrame>();
#else
  throw Error(ErrorKind::usage,
              "this build has no Blosc (libblosc), by which the chunks are compressed; build with "
              "CACHEBISECT_WITH_BLOSC=ON, or write the array with zstd or gzip");
#endif
}

}  // namespace cachebisect::stages
