// JPEG by libjpeg-turbo. Defined in jpeg_*_turbojpeg.cpp, which builds without it leave out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cachebisect::stages {

struct JpegSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

enum class JpegDct { islow, ifast };

/// Rows and columns of an image, in pixels.
struct JpegPart {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
};

/// One decompressor, reused from image to image. Not thread safe.
class JpegDecoder {
 public:
  JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  JpegDecoder(JpegDecoder&&) = delete;
  JpegDecoder& operator=(JpegDecoder&&) = delete;
  ~JpegDecoder();

  /// Reads the header and prepares to decode at 1/`scale` of the size: 1, 2, 4 or 8. Returns the
  /// size that is stored. `bytes` must live until decode() has returned. Throws Error(data) when
  /// they are not a JPEG that can be decoded.
  JpegSize begin(std::span<const std::byte> bytes, JpegDct dct, unsigned scale = 1);
  /// That of what decode() gives, rounded up.
  [[nodiscard]] JpegSize scaled_size() const noexcept;
  /// Scratch that decode() needs: a row of CMYK pixels, or nothing.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept;
  /// Decodes the image of begin() into dense RGB rows of width x 3 bytes. Grey becomes RGB; CMYK is
  /// read as Adobe stores it (inverted), like Pillow. Throws Error(data) that says what is damaged
  /// or truncated.
  void decode(std::span<std::uint8_t> rgb, std::span<std::uint8_t> scratch);

  /// True if decode_part() can decode the image of begin(): all but CMYK.
  [[nodiscard]] bool can_decode_parts() const noexcept;
  /// Starts to decode `part` of the image of begin() alone. Returns the part that decode_part()
  /// gives: the same rows, and columns up to multiples of the image's blocks. Throws as decode().
  JpegPart begin_part(const JpegPart& part);
  /// Decodes it into dense RGB rows, with the same values as decode(). What lies below is not read,
  /// so that damage there is not found. Throws as decode().
  void decode_part(std::span<std::uint8_t> rgb);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Encodes dense RGB as baseline JPEG, 4:2:0. Throws Error(internal).
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, JpegSize size, int quality);

}  // namespace cachebisect::stages
