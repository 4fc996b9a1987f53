// The random position of a crop of fixed size, drawn alike before and behind the copy.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/support/param_specs.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"

namespace cachebisect::stages {

/// `size`, or `height` and `width`, and `padding`.
std::vector<ParamSpec> random_crop_params();

/// torchvision's RandomCrop with zeros around the image.
class RandomCropPosition {
 public:
  struct Corner {
    std::int64_t top = 0;
    std::int64_t left = 0;
  };

  explicit RandomCropPosition(const Params& params)
      : size_(required_size(params)), padding_(params.integer("padding")) {}

  [[nodiscard]] const ImageSize& size() const noexcept { return size_; }
  /// Of a crop of an image of this size, which has room for it.
  [[nodiscard]] Corner draw(const ImageSize& image, RandomStream random) const;
  /// Throws an error of this kind if the crop is larger than the image with its padding. kDynamic
  /// sides fit.
  void require_room(const ImageSize& image, ErrorKind kind) const;

 private:
  ImageSize size_;
  std::int64_t padding_;
};

}  // namespace cachebisect::stages
