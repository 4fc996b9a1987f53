// The module that codecs/audio.hpp opens: the only code that links libsndfile.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "stages/codecs/audio.hpp"
#include <sndfile.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect::stages {
namespace {

/// A file in memory, as libsndfile reads one.
struct MemoryFile {
  std::span<const std::byte> bytes;
  sf_count_t at = 0;

  [[nodiscard]] sf_count_t size() const noexcept { return static_cast<sf_count_t>(bytes.size()); }
};

MemoryFile& file_of(void* user) { return *static_cast<MemoryFile*>(user); }

sf_count_t file_size(void* user) { return file_of(user).size(); }
sf_count_t file_tell(void* user) { return file_of(user).at; }

sf_count_t file_seek(sf_count_t offset, int whence, void* user) {
  MemoryFile& file = file_of(user);
  sf_count_t base = 0;
  if (whence == SEEK_CUR) base = file.at;
  if (whence == SEEK_END) base = file.size();
  const bool inside = offset >= -base && offset <= file.size() - base;
  if (!inside) return -1;
  file.at = base + offset;
  return file.at;
}

sf_count_t file_read(void* out, sf_count_t count, void* user) {
  MemoryFile& file = file_of(user);
  const sf_count_t bytes = std::clamp<sf_count_t>(count, 0, file.size() - file.at);
  if (bytes > 0) std::memcpy(out, file.bytes.data() + file.at, static_cast<std::size_t>(bytes));
  file.at += bytes;
  return bytes;
}

class SndfileStream final : public AudioStream {
 public:
  explicit SndfileStream(std::span<const std::byte> bytes) : file_{bytes} {
    SF_VIRTUAL_IO calls{file_size, file_seek, file_read, nullptr, file_tell};
    SF_INFO info{};
    handle_.reset(sf_open_virtual(&calls, SFM_READ, &info, &file_));
    if (!handle_) {
      throw Error(ErrorKind::data,
                  "is no audio that libsndfile can decode: " + printable(sf_strerror(nullptr)));
    }
    facts_ = {info.frames, info.channels, info.samplerate};
  }

  bool seek(std::int64_t frame) override {
    return sf_seek(handle_.get(), frame, SEEK_SET) == frame;
  }

  std::int64_t read(std::span<float> out) override {
    const auto frames = static_cast<sf_count_t>(out.size()) / facts_.channels;
    return std::max<sf_count_t>(0, sf_readf_float(handle_.get(), out.data(), frames));
  }

 private:
  struct Close {
    void operator()(SNDFILE* handle) const noexcept { sf_close(handle); }
  };

  MemoryFile file_;
  std::unique_ptr<SNDFILE, Close> handle_;
};

}  // namespace
}  // namespace cachebisect::stages

extern "C" CACHEBISECT_INTERNAL_API cachebisect::stages::AudioStream* cachebisect_audio_open(
    std::span<const std::byte> bytes) {
  return std::make_unique<cachebisect::stages::SndfileStream>(bytes).release();
}
