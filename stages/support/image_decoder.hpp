// Encoded images to RGB: JPEG by libjpeg-turbo, other formats by OpenCV.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "stages/codecs/image_header.hpp"
#include "stages/codecs/imgcodecs.hpp"
#include "stages/codecs/jpeg.hpp"
#include "stages/kernels/orientation.hpp"

#include "cachebisect/base/object_pool.hpp"
#include "cachebisect/data/field.hpp"
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

/// Thread safe. Every member throws Error(data) that says what is wrong with the bytes, and
/// Error(usage) for formats that this build cannot decode.
class ImageDecoder {
 public:
  /// Of the parameters that decode_params() lists.
  explicit ImageDecoder(const Params& params);

  /// To RGB uint8 [height, width, 3] in `out`.
  void decode(EncodedImage bytes, Field& out, Arena& arena) const;

 private:
  void check_pixels(std::uint64_t pixels) const;
  void decode_as(ImageFormat format, EncodedImage bytes, Field& out, Arena& arena) const;
  void decode_jpeg(EncodedImage bytes, int orientation, Field& out, Arena& arena) const;
  void decode_other(EncodedImage bytes, ImageFormat format, int orientation, Field& out) const;
  [[nodiscard]] int orientation_of(EncodedImage bytes, ImageFormat format) const;

  bool orientation_;
  std::uint64_t max_pixels_;
  JpegDct dct_;
#ifdef CACHEBISECT_WITH_TURBOJPEG
  mutable ObjectPool<JpegDecoder> jpeg_decoders_;
#endif
  mutable OtherFormats other_formats_;
};

/// `orientation`, `max_pixels` and `dct`.
std::vector<ParamSpec> decode_params();

}  // namespace cachebisect::stages
