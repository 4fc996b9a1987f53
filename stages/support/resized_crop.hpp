// The random crop that two stages share, one behind decoding and one in it.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/kernels/geometry.hpp"
#include "stages/kernels/resize.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// Thread safe.
class ResizedCrop {
 public:
  /// By the parameters that add_resized_crop_params() declares.
  explicit ResizedCrop(const Params& params)
      : size_(required_size(params)),
        scale_(range_of(params, "scale")),
        ratio_(range_of(params, "ratio")),
        filter_(resize_filter(params)) {}

  [[nodiscard]] const ImageSize& size() const noexcept { return size_; }
  [[nodiscard]] const ResizeFilter& filter() const noexcept { return filter_; }
  /// Drawn for this sample, inside an image of this height and width.
  [[nodiscard]] Box box(std::int64_t height, std::int64_t width,
                        const SampleContext& context) const {
    RandomStream random = context.random();
    return random_resized_box(height, width, scale_, ratio_, random);
  }

 private:
  ImageSize size_;
  Range scale_;
  Range ratio_;
  ResizeFilter filter_;
};

/// `size`, `scale`, `ratio`, `interpolation` and `antialias`.
inline void add_resized_crop_params(std::vector<ParamSpec>& params) {
  add_size_params(params);
  params.push_back(
      range_param("scale", "range of the crop's share of the image area", 0.08, 1, 1e-6, 1));
  params.push_back(range_param("ratio", "range of the crop's aspect ratio, width over height",
                               3.0 / 4, 4.0 / 3, 1e-3, 1e3));
  params.push_back(interpolation_param());
  params.push_back(antialias_param());
}

}  // namespace cachebisect::stages
