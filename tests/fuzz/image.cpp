// decode.image and decode.random_resized_crop over a hostile image of any format.
#include "fuzz/fuzz_target.hpp"
#include "support/stage_maker.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

constexpr std::int64_t kMostFuzzedPixels = 65'536;
constexpr std::int64_t kCropSide = 16;

const SampleStage& whole_decoder(bool upright) {
  const auto made = [](bool orientation) {
    return test::make_stage<SampleStage>(
        "decode.image", {{"max_pixels", kMostFuzzedPixels}, {"orientation", orientation}});
  };
  static const auto stored = made(false);
  static const auto turned = made(true);
  return upright ? *turned : *stored;
}

const SampleStage& crop_decoder() {
  static const auto stage = test::make_stage<SampleStage>(
      "decode.random_resized_crop", {{"max_pixels", kMostFuzzedPixels}, {"size", kCropSide}});
  return *stage;
}

Shape shape_of(const SampleStage& stage, const Sample& input) {
  Shape shape;
  // Error(usage): of formats that this build cannot decode.
  takes({ErrorKind::data, ErrorKind::usage}, [&] {
    const Sample out = test::process_sample(stage, input);
    shape = out.field("image").shape();
    require(shape.rank() == 3 && shape[2] == 3, "an image is RGB");
    require(shape[0] > 0 && shape[1] > 0, "an image has pixels");
  });
  return shape;
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(image)(const std::uint8_t* data, std::size_t size) {
  Sample input;
  input.set_index({1});
  input.field("image").assign(bytes_of(data, size));
  const Shape stored = shape_of(whole_decoder(false), input);
  const Shape upright = shape_of(whole_decoder(true), input);
  require(stored.rank() == upright.rank(), "turning an image does not make it readable");
  if (stored.rank() > 0) {
    require(stored[0] * stored[1] <= kMostFuzzedPixels, "an image has no more than max_pixels");
    require(stored.elements() == upright.elements(), "turning an image keeps its pixels");
  }
  const Shape crop = shape_of(crop_decoder(), input);
  if (crop.rank() > 0) {
    require(crop == Shape({kCropSide, kCropSide, 3}), "a crop has the size that was asked for");
  }
  require(stored.rank() == 0 || crop.rank() > 0, "a part of a sound image can be decoded");
  return 0;
}
