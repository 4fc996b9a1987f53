// Encoded video, by libav: in a separate module that the first pipeline with video opens, because
// it loads over a hundred libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cachebisect::stages {

/// What is refused before memory is taken, and when to give up.
struct VideoLimits {
  std::int64_t max_pixels = 0;  ///< of a frame
  double seconds = 0;           ///< for a sample
};

/// What the file claims of its first video.
struct VideoFacts {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t frames = 0;  ///< 0: not known
  bool exact = false;       ///< `frames` is a count, no estimate
};

/// Video that is being decoded. Its functions throw Error(data), "what is wrong" alone. Not thread
/// safe.
class VideoStream {
 public:
  VideoStream() = default;
  VideoStream(const VideoStream&) = delete;
  VideoStream& operator=(const VideoStream&) = delete;
  virtual ~VideoStream() = default;

  [[nodiscard]] const VideoFacts& facts() const noexcept { return facts_; }
  /// Decodes from the key frame before this frame, at the mean frame rate, up to it. Called once,
  /// before next(); without it, next() begins with the first frame.
  virtual void seek(std::int64_t frame) = 0;
  /// Decodes the next frame; false after the last.
  virtual bool next() = 0;
  /// Writes the frame as RGB rows of `width` x `height` pixels, scaled if they are not its own.
  virtual void write_rgb(std::int64_t width, std::int64_t height, std::uint8_t* out) = 0;

 protected:
  VideoFacts facts_;
};

/// The module's only function, `cachebisect_video_open`. `bytes` must outlive the stream, which the
/// caller owns. Throws as VideoStream does.
using OpenVideo = VideoStream* (*)(std::span<const std::byte> bytes, const VideoLimits& limits);

/// Opens the module, which is never unloaded. Throws Error(usage) with the remedy when this build
/// has no libav or the module is not found.
[[nodiscard]] OpenVideo open_video_module();

}  // namespace cachebisect::stages
