#include "cachebisect/shards/record_codec.hpp"

#include <cstring>
#include <limits>
#include <string_view>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/object_pool.hpp"
#ifdef CACHEBISECT_WITH_CODECS
#include <lz4.h>
#include <zstd.h>
#endif

namespace cachebisect::shards {
namespace {

class Uncompressed final : public RecordCodec {
 public:
  Uncompressed() : RecordCodec("none") {}

  [[nodiscard]] bool compresses() const noexcept override { return false; }
  void compress(std::span<const std::byte> record, std::vector<std::byte>& out) const override {
    out.assign(record.begin(), record.end());
  }
  [[nodiscard]] bool expand(std::span<const std::byte> stored,
                            std::span<std::byte> record) const override {
    if (stored.size() != record.size()) return false;
    if (!record.empty()) std::memcpy(record.data(), stored.data(), record.size());
    return true;
  }
};

#ifdef CACHEBISECT_WITH_CODECS

class Lz4 final : public RecordCodec {
 public:
  Lz4() : RecordCodec("lz4") {}

  [[nodiscard]] bool compresses() const noexcept override { return true; }
  void compress(std::span<const std::byte> record, std::vector<std::byte>& out) const override {
    if (record.size() > LZ4_MAX_INPUT_SIZE) {
      throw Error(ErrorKind::data, "a sample of " + std::to_string(record.size()) +
                                       " bytes is too large for lz4; use zstd:1");
    }
    const int size = static_cast<int>(record.size());
    out.resize(static_cast<std::size_t>(LZ4_compressBound(size)));
    const int stored = LZ4_compress_default(reinterpret_cast<const char*>(record.data()),
                                            reinterpret_cast<char*>(out.data()), size,
                                            static_cast<int>(out.size()));
    out.resize(static_cast<std::size_t>(stored));
  }
  [[nodiscard]] bool expand(std::span<const std::byte> stored,
                            std::span<std::byte> record) const override {
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (stored.size() > kMost || record.size() > kMost) return false;
    const int size = static_cast<int>(record.size());
    return LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()),
                               reinterpret_cast<char*>(record.data()),
                               static_cast<int>(stored.size()), size) == size;
  }
};

struct ZstdCompression {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
};
struct ZstdExpansion {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{ZSTD_createDCtx(), ZSTD_freeDCtx};
};

class Zstd final : public RecordCodec {
 public:
  Zstd(const std::string& name, int level) : RecordCodec(name), level_(level) {}

  [[nodiscard]] bool compresses() const noexcept override { return true; }
  void compress(std::span<const std::byte> record, std::vector<std::byte>& out) const override {
    out.resize(ZSTD_compressBound(record.size()));
    const auto loan = compressions_.borrow();
    const std::size_t stored = ZSTD_compressCCtx(loan->context.get(), out.data(), out.size(),
                                                 record.data(), record.size(), level_);
    if (ZSTD_isError(stored) != 0) {
      throw Error(ErrorKind::data, std::string("zstd: ") + ZSTD_getErrorName(stored));
    }
    out.resize(stored);
  }
  [[nodiscard]] bool expand(std::span<const std::byte> stored,
                            std::span<std::byte> record) const override {
    const auto loan = expansions_.borrow();
    return ZSTD_decompressDCtx(loan->context.get(), record.data(), record.size(), stored.data(),
                               stored.size()) == record.size();
  }

 private:
  int level_;
  mutable ObjectPool<ZstdCompression> compressions_;
  mutable ObjectPool<ZstdExpansion> expansions_;
};

std::unique_ptr<RecordCodec> make_zstd(const std::string& name) {
  constexpr int kMostLevel = 19;
  const std::string_view level = std::string_view(name).substr(4);
  if (level.empty()) return std::make_unique<Zstd>(name, 1);
  const auto number = level.front() == ':' ? parse_number<int>(level.substr(1)) : std::nullopt;
  if (!number || *number < 1 || *number > kMostLevel) {
    throw Error(ErrorKind::usage, "the codec '" + name + "': zstd:LEVEL, from 1 to 19");
  }
  return std::make_unique<Zstd>(name, *number);
}

#endif

}  // namespace

RecordCodec::~RecordCodec() = default;

std::unique_ptr<RecordCodec> make_codec(const std::string& name) {
  if (name == "none") return std::make_unique<Uncompressed>();
#ifdef CACHEBISECT_WITH_CODECS
  if (name == "lz4") return std::make_unique<Lz4>();
  if (name.starts_with("zstd")) return make_zstd(name);
#else
  if (name == "lz4" || name.starts_with("zstd")) {
    throw Error(ErrorKind::usage, "the codec '" + name +
                                      "' is not in this build; build with "
                                      "CACHEBISECT_WITH_CODECS=ON, or use none");
  }
#endif
  throw Error(ErrorKind::usage, "the codec '" + name + "': none, lz4 or zstd:LEVEL");
}

std::vector<std::string> codecs_of_this_build() {
#ifdef CACHEBISECT_WITH_CODECS
  return {"none", "lz4", "zstd:1"};
#else
  return {"none"};
#endif
}

}  // namespace cachebisect::shards
