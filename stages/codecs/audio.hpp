// Encoded audio: WAV, FLAC, Ogg and what else libsndfile reads. The library is in a separate module
// that the first pipeline with audio opens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cachebisect::stages {

/// What a header claims; nothing is taken on trust but that it can be represented.
struct AudioFacts {
  std::int64_t frames = 0;  ///< samples of each channel
  std::int64_t channels = 0;
  std::int64_t rate = 0;  ///< frames a second
};

/// Audio that is being decoded. Not thread safe.
class AudioStream {
 public:
  AudioStream() = default;
  AudioStream(const AudioStream&) = delete;
  AudioStream& operator=(const AudioStream&) = delete;
  virtual ~AudioStream() = default;

  [[nodiscard]] const AudioFacts& facts() const noexcept { return facts_; }
  /// False if there is no such frame.
  virtual bool seek(std::int64_t frame) = 0;
  /// Decodes the next frames, channel by channel within each, as many as `out` holds. Returns how
  /// many there were: fewer at the end, or before damage.
  virtual std::int64_t read(std::span<float> out) = 0;

 protected:
  AudioFacts facts_;
};

/// The module's only function, `cachebisect_audio_open`. `bytes` must outlive the stream, which the
/// caller owns. Throws Error(data), "what is wrong" alone.
using OpenAudio = AudioStream* (*)(std::span<const std::byte> bytes);

/// Opens the module, which is never unloaded. Throws Error(usage) with the remedy when this build
/// has no libsndfile or the module is not found.
[[nodiscard]] OpenAudio open_audio_module();

}  // namespace cachebisect::stages
