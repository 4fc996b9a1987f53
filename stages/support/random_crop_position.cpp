#include "stages/support/random_crop_position.hpp"

#include <string>

#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {
namespace {

std::string side_text(std::int64_t side) { return side == kDynamic ? "?" : std::to_string(side); }

}  // namespace

std::vector<ParamSpec> random_crop_params() {
  std::vector<ParamSpec> params;
  add_size_params(params);
  params.push_back({.name = "padding",
                    .type = ParamType::integer,
                    .doc = "zeros added on each side before cropping, in pixels",
                    .default_value = std::int64_t{0},
                    .minimum = 0,
                    .maximum = kMaxSide});
  return params;
}

RandomCropPosition::Corner RandomCropPosition::draw(const ImageSize& image,
                                                    RandomStream random) const {
  const auto place = [&](std::int64_t length, std::int64_t size) {
    const auto positions = static_cast<std::uint64_t>(length + 2 * padding_ - size + 1);
    return static_cast<std::int64_t>(random.below(positions)) - padding_;
  };
  const std::int64_t top = place(image.height, size_.height);
  return {top, place(image.width, size_.width)};
}

void RandomCropPosition::require_room(const ImageSize& image, ErrorKind kind) const {
  const auto fits = [&](std::int64_t length, std::int64_t size) {
    return length == kDynamic || length + 2 * padding_ >= size;
  };
  if (fits(image.height, size_.height) && fits(image.width, size_.width)) return;
  throw Error(kind, "an image of " + side_text(image.height) + " x " + side_text(image.width) +
                        " with padding " + std::to_string(padding_) +
                        " is smaller than the crop of " + std::to_string(size_.height) + " x " +
                        std::to_string(size_.width) + "; resize first, or pad more");
}

}  // namespace cachebisect::stages
