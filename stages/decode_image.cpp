// decode.image: JPEG by libjpeg-turbo, other formats by OpenCV, to RGB.
#include <atomic>
#include <mutex>

#include "stages/codecs/image_header.hpp"
#include "stages/codecs/imgcodecs.hpp"
#include "stages/codecs/jpeg.hpp"
#include "stages/kernels/orientation.hpp"
#include "stages/support/field_stage.hpp"

#include "cachebisect/base/object_pool.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

using Bytes = std::span<const std::byte>;

/// Above this Pillow refuses too: half a gigabyte of RGB.
constexpr std::int64_t kDefaultMaxPixels = 178'956'970;

/// The decoder of formats other than JPEG, opened by the first image that needs it.
class OtherFormats {
 public:
  [[nodiscard]] DecodeImage get() {
    if (DecodeImage opened = decode_.load(std::memory_order_acquire)) return opened;
    const std::lock_guard lock(mutex_);
    if (decode_.load(std::memory_order_relaxed) == nullptr)
      decode_.store(open_imgcodecs(), std::memory_order_release);
    return decode_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<DecodeImage> decode_ = nullptr;
  std::mutex mutex_;
};

std::uint8_t* resize_rgb(Field& out, std::int64_t width, std::int64_t height) {
  return reinterpret_cast<std::uint8_t*>(out.resize(DType::uint8, {height, width, 3}).data);
}

class DecodeImageStage final : public FieldStage {
 public:
  explicit DecodeImageStage(const Params& params)
      : FieldStage(params),
        orientation_(params.boolean("orientation")),
        max_pixels_(static_cast<std::uint64_t>(params.integer("max_pixels"))),
        dct_(params.string("dct") == "islow" ? JpegDct::islow : JpegDct::ifast) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_bytes(input, {kDynamic}, "the bytes of an encoded image");
    return {input.name, DType::uint8, {kDynamic, kDynamic, 3}};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    decode(checked_bytes(input, {kDynamic}), out, context.arena());
  }

  void decode(Bytes bytes, Field& out, Arena& arena) const {
    const ImageFormat format = image_format(bytes);
    if (format == ImageFormat::unknown) {
      throw Error(ErrorKind::data, bytes.empty()
                                       ? "is empty"
                                       : "is not an image of a known format: JPEG, PNG, WebP, BMP, "
                                         "TIFF, PNM");
    }
    const int orientation = orientation_ ? exif_orientation(bytes, format) : 1;
    if (format == ImageFormat::jpeg) {
      decode_jpeg(bytes, orientation, out, arena);
    } else {
      decode_other(bytes, format, orientation, out);
    }
  }

  void check_pixels(std::uint64_t pixels) const {
    if (pixels <= max_pixels_) return;
    throw Error(ErrorKind::data, "has " + std::to_string(pixels) +
                                     " pixels according to its header, more than \"max_pixels\" (" +
                                     std::to_string(max_pixels_) + ")");
  }

#ifdef CACHEBISECT_WITH_TURBOJPEG
  void decode_jpeg(Bytes bytes, int orientation, Field& out, Arena& arena) const {
    const auto decoder = jpeg_decoders_.borrow();
    const JpegSize size = decoder->begin(bytes, dct_);
    check_pixels(std::uint64_t{size.width} * size.height);
    const std::size_t rgb_bytes = std::size_t{3} * size.width * size.height;
    const auto scratch = arena.take_array<std::uint8_t>(decoder->scratch_bytes());
    if (orientation == 1) {
      decoder->decode({resize_rgb(out, size.width, size.height), rgb_bytes}, scratch);
      return;
    }
    const auto stored = arena.take_array<std::uint8_t>(rgb_bytes);
    decoder->decode(stored, scratch);
    store_upright({stored.data(), size.width, size.height, std::int64_t{3} * size.width},
                  orientation, out);
  }
#else
  void decode_jpeg(Bytes /*bytes*/, int /*orientation*/, Field& /*out*/, Arena& /*arena*/) const {
    throw Error(ErrorKind::usage,
                "this build cannot decode JPEG; build with CACHEBISECT_WITH_TURBOJPEG=ON");
  }
#endif

  void decode_other(Bytes bytes, ImageFormat format, int orientation, Field& out) const {
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

  static void store_upright(const PixelRows& rows, int orientation, Field& out) {
    const bool swapped = swaps_axes(orientation);
    write_upright(
        rows, orientation,
        resize_rgb(out, swapped ? rows.height : rows.width, swapped ? rows.width : rows.height));
  }

  bool orientation_;
  std::uint64_t max_pixels_;
  JpegDct dct_;
#ifdef CACHEBISECT_WITH_TURBOJPEG
  mutable ObjectPool<JpegDecoder> jpeg_decoders_;
#endif
  mutable OtherFormats other_formats_;
};

}  // namespace

void register_decode_image(Registry& registry) {
  registry.add(
      {.type = "decode.image",
       .doc = "JPEG, PNG, WebP, BMP, TIFF or PNM bytes to RGB [?, ?, 3] uint8",
       .kind = StageKind::sample,
       .traits = {.allocates = true},
       .params = {{.name = "orientation",
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
                   .choices = {"islow", "ifast"}}},
       .example = "{}",
       .make = [](const Params& params) { return std::make_unique<DecodeImageStage>(params); }});
}

}  // namespace cachebisect::stages
