#include "stages/support/image_decoder.hpp"

#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

/// Above this Pillow refuses too: half a gigabyte of RGB.
constexpr std::int64_t kDefaultMaxPixels = 178'956'970;

std::uint8_t* resize_rgb(Field& out, std::int64_t width, std::int64_t height) {
  return reinterpret_cast<std::uint8_t*>(out.resize(DType::uint8, {height, width, 3}).data);
}

void store_upright(const PixelRows& rows, int orientation, Field& out) {
  const bool swapped = swaps_axes(orientation);
  write_upright(
      rows, orientation,
      resize_rgb(out, swapped ? rows.height : rows.width, swapped ? rows.width : rows.height));
}

ImageFormat known_format(EncodedImage bytes) {
  const ImageFormat format = image_format(bytes);
  if (format != ImageFormat::unknown) return format;
  throw Error(ErrorKind::data, bytes.empty()
                                   ? "is empty"
                                   : "is not an image of a known format: JPEG, PNG, WebP, BMP, "
                                     "TIFF, PNM");
}

}  // namespace

DecodeImage OtherFormats::get() {
  if (DecodeImage opened = decode_.load(std::memory_order_acquire)) return opened;
  const std::lock_guard lock(mutex_);
  if (decode_.load(std::memory_order_relaxed) == nullptr)
    decode_.store(open_imgcodecs(), std::memory_order_release);
  return decode_.load(std::memory_order_relaxed);
}

ImageDecoder::ImageDecoder(const Params& params, unsigned scale)
    : orientation_(params.boolean("orientation")),
      max_pixels_(static_cast<std::uint64_t>(params.integer("max_pixels"))),
      dct_(params.string("dct") == "islow" ? JpegDct::islow : JpegDct::ifast),
      scale_(scale) {}

void ImageDecoder::decode(EncodedImage bytes, Field& out, Arena& arena) const {
  decode_as(known_format(bytes), bytes, out, arena);
}

int ImageDecoder::orientation_of(EncodedImage bytes, ImageFormat format) const {
  return orientation_ ? exif_orientation(bytes, format) : 1;
}

void ImageDecoder::decode_as(ImageFormat format, EncodedImage bytes, Field& out,
                             Arena& arena) const {
  const int orientation = orientation_of(bytes, format);
  if (format == ImageFormat::jpeg) {
    decode_jpeg(bytes, orientation, out, arena);
  } else {
    decode_other(bytes, format, orientation, out);
  }
}

DecodedPart ImageDecoder::decode_part(EncodedImage bytes, const ChooseBox& choose, Field& whole,
                                      Arena& arena) const {
  const ImageFormat format = known_format(bytes);
  if (format == ImageFormat::jpeg && orientation_of(bytes, format) == 1) {
    if (const auto part = decode_jpeg_part(bytes, choose, arena)) return *part;
  }
  decode_as(format, bytes, whole, arena);
  const auto pixels = image_in<std::uint8_t>(whole.view());
  return {pixels, choose(pixels.height, pixels.width)};
}

void ImageDecoder::check_pixels(std::uint64_t pixels) const {
  if (pixels <= max_pixels_) return;
  throw Error(ErrorKind::data, "has " + std::to_string(pixels) +
                                   " pixels according to its header, more than \"max_pixels\" (" +
                                   std::to_string(max_pixels_) + ")");
}

#ifdef CACHEBISECT_WITH_TURBOJPEG
void ImageDecoder::decode_jpeg(EncodedImage bytes, int orientation, Field& out,
                               Arena& arena) const {
  const auto decoder = jpeg_decoders_.borrow();
  const JpegSize stored_size = decoder->begin(bytes, dct_, scale_);
  check_pixels(std::uint64_t{stored_size.width} * stored_size.height);
  const JpegSize size = decoder->scaled_size();
  const std::size_t rgb_bytes = std::size_t{3} * size.width * size.height;
  const auto scratch = arena.take_array<std::uint8_t>(decoder->scratch_bytes());
  if (orientation == 1) {
    decoder->decode({resize_rgb(out, size.width, size.height), rgb_bytes}, scratch);
    return;
  }
  const auto stored = arena.take_array<std::uint8_t>(rgb_bytes);
  decoder->decode(stored, scratch);
  store_upright({stored.data(), size.width, size.height, std::int64_t{3} * size.width}, orientation,
                out);
}

std::optional<DecodedPart> ImageDecoder::decode_jpeg_part(EncodedImage bytes,
                                                          const ChooseBox& choose,
                                                          Arena& arena) const {
  const auto decoder = jpeg_decoders_.borrow();
  const JpegSize size = decoder->begin(bytes, dct_);
  check_pixels(std::uint64_t{size.width} * size.height);
  if (!decoder->can_decode_parts()) return std::nullopt;
  const Box box = choose(size.height, size.width);
  const JpegPart got = decoder->begin_part(
      {static_cast<std::uint32_t>(box.top), static_cast<std::uint32_t>(box.left),
       static_cast<std::uint32_t>(box.height), static_cast<std::uint32_t>(box.width)});
  const auto rgb = arena.take_array<std::uint8_t>(std::size_t{3} * got.width * got.height);
  decoder->decode_part(rgb);
  return DecodedPart{{rgb.data(), got.height, got.width, 3},
                     {0, box.left - got.left, box.height, box.width}};
}
#else
std::optional<DecodedPart> ImageDecoder::decode_jpeg_part(EncodedImage /*bytes*/,
                                                          const ChooseBox& /*choose*/,
                                                          Arena& /*arena*/) const {
  return std::nullopt;
}

void ImageDecoder::decode_jpeg(EncodedImage /*bytes*/, int /*orientation*/, Field& /*out*/,
                               Arena& /*arena*/) const {
  throw Error(ErrorKind::usage,
              "this build cannot decode JPEG; build with CACHEBISECT_WITH_TURBOJPEG=ON");
}
#endif

void ImageDecoder::decode_other(EncodedImage bytes, ImageFormat format, int orientation,
                                Field& out) const {
  check_pixels(header_pixels(bytes, format));
  struct Target {
    Field& out;
    int orientation;
  } target{out, orientation};
  const auto receive = [](void* user, const PixelRows& rows) {
    const auto& to = *static_cast<Target*>(user);
    store_upright(rows, to.orientation, to.out);
  };
  if (!other_formats_.get()(bytes.data(), bytes.size(), &target, receive)) {
    throw Error(ErrorKind::data,
                "damaged, truncated or unsupported " + std::string(to_string(format)));
  }
}

std::vector<ParamSpec> decode_params() {
  return {{.name = "orientation",
           .type = ParamType::boolean,
           .doc = "apply the EXIF orientation (always applied for TIFF)",
           .default_value = false},
          {.name = "max_pixels",
           .type = ParamType::integer,
           .doc = "images with more pixels are refused before memory is allocated",
           .default_value = kDefaultMaxPixels,
           .minimum = 1,
           .maximum = 1'000'000'000},
          {.name = "dct",
           .type = ParamType::string,
           .doc = "inverse DCT of JPEG: islow is exact, ifast is faster and less accurate",
           .default_value = std::string("islow"),
           .choices = {"islow", "ifast"}}};
}

}  // namespace cachebisect::stages
