// JPEG by libjpeg-turbo. Defined in jpeg_*_turbojpeg.cpp; absent from builds without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cachebisect::stages {

struct ImageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

enum class JpegDct { islow, ifast };

/// One decompressor, reused from image to image. Not thread safe.
class JpegDecoder {
 public:
  JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  JpegDecoder(JpegDecoder&&) = delete;
  JpegDecoder& operator=(JpegDecoder&&) = delete;
  ~JpegDecoder();

  /// Reads the header and prepares to decode. `bytes` must live until decode() has returned.
  /// Throws Error(data) on what is no JPEG or one of a kind that cannot be decoded.
  ImageSize begin(std::span<const std::byte> bytes, JpegDct dct);
  /// Scratch that decode() needs: a row of CMYK pixels, or none.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept;
  /// Decodes what begin() read into dense RGB rows of width x 3 bytes. Grey becomes RGB; CMYK is
  /// taken as Adobe stores it (inverted), as Pillow does. Throws Error(data) on damaged or
  /// truncated data, saying what.
  void decode(std::span<std::uint8_t> rgb, std::span<std::uint8_t> scratch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// RGB to baseline JPEG, 4:2:0.
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, ImageSize size, int quality);

}  // namespace cachebisect::stages
