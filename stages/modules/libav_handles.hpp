// What calls of libav need: their objects closed, their errors as text, bytes in memory as a file.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libswscale/swscale.h>
}

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect::stages {

struct LibavDelete {
  void operator()(AVFormatContext* format) const noexcept { avformat_close_input(&format); }
  void operator()(AVCodecContext* codec) const noexcept { avcodec_free_context(&codec); }
  void operator()(AVPacket* packet) const noexcept { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }
  void operator()(SwsContext* scaler) const noexcept { sws_freeContext(scaler); }
  void operator()(AVIOContext* input) const noexcept {
    av_freep(&input->buffer);
    avio_context_free(&input);
  }
};
template <class T>
using LibavPtr = std::unique_ptr<T, LibavDelete>;

/// Settings of libav, which nothing else in this process uses: damage is reported as an error, and
/// no single claim of a header takes more than 512 MiB.
inline bool settle_libav() {
  av_log_set_level(AV_LOG_QUIET);
  av_max_alloc(std::size_t{1} << 29U);
  return true;
}

/// The reason of an error code.
inline std::string libav_reason(int code) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(code, text.data(), text.size());
  return printable(text.data());
}

/// Throws Error(data) for what libav reports of the data.
[[noreturn]] inline void refuse_video(const std::string& what) {
  throw Error(ErrorKind::data, what);
}

/// What a call of libav made. Throws std::bad_alloc, which is what null means.
template <class T>
LibavPtr<T> made(T* object) {
  if (object == nullptr) throw std::bad_alloc();
  return LibavPtr<T>(object);
}

/// Bytes in memory, as libav reads a file. Must stay where it is while it is read.
class LibavMemory {
 public:
  explicit LibavMemory(std::span<const std::byte> bytes) : bytes_(bytes) {
    constexpr int kBuffer = 32 * 1024;
    auto* const buffer = static_cast<unsigned char*>(av_malloc(kBuffer));
    if (buffer == nullptr) throw std::bad_alloc();
    AVIOContext* const made_context =
        avio_alloc_context(buffer, kBuffer, 0, this, read, nullptr, seek);
    if (made_context == nullptr) {
      av_free(buffer);
      throw std::bad_alloc();
    }
    context_.reset(made_context);
  }
  LibavMemory(const LibavMemory&) = delete;
  LibavMemory& operator=(const LibavMemory&) = delete;
  ~LibavMemory() = default;

  [[nodiscard]] AVIOContext* context() const noexcept { return context_.get(); }

 private:
  [[nodiscard]] std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(bytes_.size());
  }

  static int read(void* user, std::uint8_t* out, int count) {
    auto& self = *static_cast<LibavMemory*>(user);
    const std::int64_t bytes = std::min<std::int64_t>(count, self.size() - self.at_);
    if (bytes <= 0) return AVERROR_EOF;
    std::memcpy(out, self.bytes_.data() + self.at_, static_cast<std::size_t>(bytes));
    self.at_ += bytes;
    return static_cast<int>(bytes);
  }

  static std::int64_t seek(void* user, std::int64_t offset, int whence) {
    auto& self = *static_cast<LibavMemory*>(user);
    if ((whence & AVSEEK_SIZE) != 0) return self.size();
    std::int64_t base = 0;
    const int from = whence & ~AVSEEK_FORCE;
    if (from == SEEK_CUR) base = self.at_;
    if (from == SEEK_END) base = self.size();
    const bool inside = offset >= -base && offset <= self.size() - base;
    if (!inside) return AVERROR(EINVAL);
    self.at_ = base + offset;
    return self.at_;
  }

  std::span<const std::byte> bytes_;
  std::int64_t at_ = 0;
  LibavPtr<AVIOContext> context_;
};

}  // namespace cachebisect::stages
