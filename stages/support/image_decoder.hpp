// Encoded images to RGB, whole or in part: JPEG by libjpeg-turbo, other formats by OpenCV.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "stages/codecs/image_header.hpp"
#include "stages/codecs/imgcodecs.hpp"
#include "stages/codecs/jpeg.hpp"
#include "stages/kernels/image.hpp"
#include "stages/kernels/orientation.hpp"

#include "cachebisect/base/object_pool.hpp"
#include "cachebisect/data/memory.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

using EncodedImage = std::span<const std::byte>;

/// The decoder of formats other than JPEG, opened by the first image that needs it. Thread safe.
class OtherFormats {
 public:
  [[nodiscard]] DecodeImage get();

 private:
  std::atomic<DecodeImage> decode_ = nullptr;
  std::mutex mutex_;
};

/// An image of which at least `box` was decoded. The pixels live until the arena is reset, or the
/// field changes.
struct DecodedPart {
  ImageIn<std::uint8_t> pixels;
  Box box;  ///< in these pixels
};

/// Thread safe. Every member throws Error(data) that says what is wrong with the bytes, and
/// Error(usage) for formats that this build cannot decode.
class ImageDecoder {
 public:
  /// Chooses a part of an image of this height and width; it must lie inside.
  using ChooseBox = std::function<Box(std::int64_t height, std::int64_t width)>;

  /// By the parameters that decode_params() lists. decode() gives JPEG at 1/`scale` of its size: 1,
  /// 2, 4 or 8.
  explicit ImageDecoder(const Params& params, unsigned scale = 1);

  /// To RGB uint8 [height, width, 3] in `out`.
  void decode(EncodedImage bytes, Field& out, Arena& arena) const;
  /// Decodes no more than the part needs, where the format allows that: damage elsewhere is not
  /// always found. `whole` holds images that must be decoded as a whole.
  [[nodiscard]] DecodedPart decode_part(EncodedImage bytes, const ChooseBox& choose, Field& whole,
                                        Arena& arena) const;

 private:
  void check_pixels(std::uint64_t pixels) const;
  void decode_as(ImageFormat format, EncodedImage bytes, Field& out, Arena& arena) const;
  void decode_jpeg(EncodedImage bytes, int orientation, Field& out, Arena& arena) const;
  /// Empty for what must be decoded as a whole.
  [[nodiscard]] std::optional<DecodedPart> decode_jpeg_part(EncodedImage bytes,
                                                            const ChooseBox& choose,
                                                            Arena& arena) const;
  void decode_other(EncodedImage bytes, ImageFormat format, int orientation, Field& out) const;
  [[nodiscard]] int orientation_of(EncodedImage bytes, ImageFormat format) const;

  bool orientation_;
  std::uint64_t max_pixels_;
  JpegDct dct_;
  unsigned scale_;
#ifdef CACHEBISECT_WITH_TURBOJPEG
  mutable ObjectPool<JpegDecoder> jpeg_decoders_;
#endif
  mutable OtherFormats other_formats_;
};

/// `orientation`, `max_pixels` and `dct`.
std::vector<ParamSpec> decode_params();

}  // namespace cachebisect::stages
