#include "stages/codecs/image_header.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "stages/codecs/byte_reader.hpp"
#include "stages/codecs/tiff_tags.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

using Bytes = std::span<const std::byte>;
using Pixels = std::optional<std::uint64_t>;
using Number = std::optional<std::uint32_t>;
using namespace std::string_view_literals;

Pixels product(Number width, Number height) {
  if (!width || !height) return std::nullopt;
  return std::uint64_t{*width} * *height;
}

Pixels png_pixels(Bytes bytes) {
  if (!has_text(bytes, 12, "IHDR")) return std::nullopt;
  return product(read_unsigned<4>(bytes, 16, ByteOrder::big),
                 read_unsigned<4>(bytes, 20, ByteOrder::big));
}

/// BMP heights are negative if rows are stored from the top.
Number magnitude(Number value) {
  if (value && *value > 0x7FFFFFFFU) return 0U - *value;
  return value;
}

Pixels bmp_pixels(Bytes bytes) {
  constexpr std::uint32_t kOldHeader = 12;
  const Number header = read_unsigned<4>(bytes, 14, ByteOrder::little);
  if (header == kOldHeader) {
    return product(read_unsigned<2>(bytes, 18, ByteOrder::little),
                   read_unsigned<2>(bytes, 20, ByteOrder::little));
  }
  return product(magnitude(read_unsigned<4>(bytes, 18, ByteOrder::little)),
                 magnitude(read_unsigned<4>(bytes, 22, ByteOrder::little)));
}

Number masked(Number value, std::uint32_t mask, std::uint32_t add) {
  if (value) return (*value & mask) + add;
  return value;
}

Pixels webp_pixels(Bytes bytes) {
  constexpr std::uint32_t k14Bits = 0x3FFF;
  constexpr std::uint32_t k24Bits = 0xFFFFFF;
  if (has_text(bytes, 12, "VP8X")) {
    return product(masked(read_unsigned<3>(bytes, 24, ByteOrder::little), k24Bits, 1),
                   masked(read_unsigned<3>(bytes, 27, ByteOrder::little), k24Bits, 1));
  }
  if (has_text(bytes, 12, "VP8L")) {
    const Number bits = read_unsigned<4>(bytes, 21, ByteOrder::little);
    if (!bits) return std::nullopt;
    return product((*bits & k14Bits) + 1, ((*bits >> 14U) & k14Bits) + 1);
  }
  if (!has_text(bytes, 12, "VP8 ")) return std::nullopt;
  return product(masked(read_unsigned<2>(bytes, 26, ByteOrder::little), k14Bits, 0),
                 masked(read_unsigned<2>(bytes, 28, ByteOrder::little), k14Bits, 0));
}

bool is_space(unsigned char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

bool is_digit(unsigned char letter) { return letter >= '0' && letter <= '9'; }

/// The next number of a PNM header, after white space and comments.
Number pnm_number(Bytes bytes, std::size_t& at) {
  constexpr std::uint32_t kMaxNumber = 100'000'000;
  const auto letter = [&] { return std::to_integer<unsigned char>(bytes[at]); };
  while (at < bytes.size() && (is_space(letter()) || letter() == '#')) {
    if (letter() == '#') {
      while (at < bytes.size() && letter() != '\n') ++at;
    } else {
      ++at;
    }
  }
  Number value;
  for (; at < bytes.size() && is_digit(letter()); ++at) {
    value = value.value_or(0) * 10 + (letter() - '0');
    if (*value > kMaxNumber) return std::nullopt;
  }
  return value;
}

Pixels pnm_pixels(Bytes bytes) {
  std::size_t at = 2;
  const Number width = pnm_number(bytes, at);
  return product(width, pnm_number(bytes, at));
}

/// Decoders make room for a whole tile, however small the image is. Throws Error(data) for tiles
/// that are larger than the image and than any that programs write.
void check_tiles(Bytes bytes, std::uint64_t image) {
  constexpr std::uint64_t kLargestTile = 2048 * 2048;
  if (!has_tiff_tag(bytes, kTiffTileWidth) && !has_tiff_tag(bytes, kTiffTileHeight)) return;
  const Pixels tile = product(tiff_tag(bytes, kTiffTileWidth), tiff_tag(bytes, kTiffTileHeight));
  if (tile && *tile <= std::max(image, kLargestTile)) return;
  throw Error(ErrorKind::data, tile ? "the header of this TIFF declares tiles of " +
                                          std::to_string(*tile) + " pixels, and an image of " +
                                          std::to_string(image)
                                    : "the header of this TIFF has damaged tiles");
}

Pixels tiff_pixels(Bytes bytes) {
  const Pixels image = product(tiff_tag(bytes, kTiffWidth), tiff_tag(bytes, kTiffHeight));
  if (image) check_tiles(bytes, *image);
  return image;
}

Bytes tail(Bytes bytes, std::size_t offset) {
  return offset < bytes.size() ? bytes.subspan(offset) : Bytes{};
}

Bytes jpeg_exif(Bytes bytes) {
  constexpr std::uint32_t kApp1 = 0xFFE1;
  constexpr std::uint32_t kStartOfScan = 0xFFDA;
  std::size_t at = 2;
  for (;;) {
    const Number marker = read_unsigned<2>(bytes, at, ByteOrder::big);
    const Number length = read_unsigned<2>(bytes, at + 2, ByteOrder::big);
    if (!marker || !length || *length < 2 || *marker < 0xFF00 || *marker == kStartOfScan) return {};
    if (*marker == kApp1 && has_text(bytes, at + 4, "Exif\0\0"sv)) return tail(bytes, at + 10);
    at += std::size_t{2} + *length;
  }
}

Bytes png_exif(Bytes bytes) {
  std::size_t at = 8;
  for (;;) {
    const Number length = read_unsigned<4>(bytes, at, ByteOrder::big);
    if (!length || has_text(bytes, at + 4, "IEND")) return {};
    if (has_text(bytes, at + 4, "eXIf")) return tail(bytes, at + 8);
    at += std::size_t{12} + *length;
  }
}

Bytes webp_exif(Bytes bytes) {
  std::size_t at = 12;
  for (;;) {
    const Number length = read_unsigned<4>(bytes, at + 4, ByteOrder::little);
    if (!length) return {};
    if (has_text(bytes, at, "EXIF")) {
      const Bytes block = tail(bytes, at + 8);
      return has_text(block, 0, "Exif\0\0"sv) ? tail(block, 6) : block;
    }
    at += std::size_t{8} + *length + (*length & 1U);
  }
}

Bytes exif_block(Bytes bytes, ImageFormat format) {
  switch (format) {
    case ImageFormat::jpeg:
      return jpeg_exif(bytes);
    case ImageFormat::png:
      return png_exif(bytes);
    case ImageFormat::webp:
      return webp_exif(bytes);
    default:
      return {};
  }
}

Pixels pixels_of(Bytes bytes, ImageFormat format) {
  switch (format) {
    case ImageFormat::png:
      return png_pixels(bytes);
    case ImageFormat::bmp:
      return bmp_pixels(bytes);
    case ImageFormat::webp:
      return webp_pixels(bytes);
    case ImageFormat::tiff:
      return tiff_pixels(bytes);
    case ImageFormat::pnm:
      return pnm_pixels(bytes);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string_view to_string(ImageFormat format) noexcept {
  switch (format) {
    case ImageFormat::jpeg:
      return "JPEG";
    case ImageFormat::png:
      return "PNG";
    case ImageFormat::webp:
      return "WebP";
    case ImageFormat::bmp:
      return "BMP";
    case ImageFormat::tiff:
      return "TIFF";
    case ImageFormat::pnm:
      return "PNM";
    case ImageFormat::unknown:
      break;
  }
  return "unknown";
}

ImageFormat image_format(Bytes bytes) noexcept {
  if (has_text(bytes, 0, "\xFF\xD8\xFF"sv)) return ImageFormat::jpeg;
  if (has_text(bytes, 0, "\x89PNG\r\n\x1A\n"sv)) return ImageFormat::png;
  if (has_text(bytes, 0, "RIFF") && has_text(bytes, 8, "WEBP")) return ImageFormat::webp;
  if (has_text(bytes, 0, "BM")) return ImageFormat::bmp;
  if (has_text(bytes, 0, "II*\0"sv) || has_text(bytes, 0, "MM\0*"sv)) return ImageFormat::tiff;
  const auto kind = read_unsigned<1>(bytes, 1, ByteOrder::big).value_or(0);
  if (has_text(bytes, 0, "P") && kind >= '1' && kind <= '6') return ImageFormat::pnm;
  return ImageFormat::unknown;
}

std::uint64_t header_pixels(Bytes bytes, ImageFormat format) {
  const Pixels pixels = pixels_of(bytes, format);
  if (pixels && *pixels > 0) return *pixels;
  throw Error(ErrorKind::data, "the header of this " + std::string(to_string(format)) +
                                   (pixels ? " declares no pixels" : " is damaged"));
}

int exif_orientation(Bytes bytes, ImageFormat format) noexcept {
  const std::uint32_t value = tiff_tag(exif_block(bytes, format), kTiffOrientation).value_or(1);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

}  // namespace cachebisect::stages
