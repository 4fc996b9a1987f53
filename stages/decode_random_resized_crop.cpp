// decode.random_resized_crop: decode.image and augment.random_resized_crop in one, which decodes
// the part that the crop keeps.
#include "stages/kernels/geometry.hpp"
#include "stages/kernels/resize.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/image_decoder.hpp"
#include "stages/support/resized_crop.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DecodeRandomResizedCrop final : public FieldStage {
 public:
  explicit DecodeRandomResizedCrop(const Params& params)
      : FieldStage(params), decoder_(params), crop_(params) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_bytes(input, {kDynamic}, "the bytes of an encoded image");
    return {input.name, DType::uint8, {crop_.size().height, crop_.size().width, 3}};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    const auto whole = whole_images_.borrow();
    const auto choose = [&](std::int64_t height, std::int64_t width) {
      return crop_.box(height, width, context);
    };
    const DecodedPart part =
        decoder_.decode_part(checked_bytes(input, {kDynamic}), choose, *whole, context.arena());
    const TensorView to =
        out.resize_strided(DType::uint8, Shape{crop_.size().height, crop_.size().width, 3});
    resize(part.pixels, part.box, image_out<std::uint8_t>(to), crop_.filter(), context.arena());
  }

  ImageDecoder decoder_;
  ResizedCrop crop_;
  mutable ObjectPool<Field> whole_images_;
};

}  // namespace

void register_decode_random_resized_crop(Registry& registry) {
  StageType type{
      .type = "decode.random_resized_crop",
      .doc =
          "Image bytes to a random crop, resized, in RGB uint8: of JPEG the crop alone is decoded",
      .kind = StageKind::sample,
      .traits = {.random = true, .strided_output = true, .allocates = true},
      .params = decode_params(),
      .example = R"({"size": 28})",
      .make = [](const Params& params) {
        return std::make_unique<DecodeRandomResizedCrop>(params);
      }};
  add_resized_crop_params(type.params);
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
