// augment.random_resized_crop: a random crop, resized (torchvision's RandomResizedCrop).
#include "stages/kernels/resize.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/resized_crop.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class RandomResizedCrop final : public FieldStage {
 public:
  explicit RandomResizedCrop(const Params& params) : FieldStage(params), crop_(params) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8, DType::float32});
    FieldSpec output = input;
    output.shape = {crop_.size().height, crop_.size().width, input.shape[2]};
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    const Shape& shape = input.shape;
    if (shape[0] == 0 || shape[1] == 0) refuse_sample("an empty image cannot be cropped", shape);
    const Box box = crop_.box(shape[0], shape[1], context);
    const TensorView to =
        out.resize_strided(input.dtype, Shape{crop_.size().height, crop_.size().width, shape[2]});
    visit_pixel(input.dtype, [&](auto pixel) {
      using T = decltype(pixel);
      resize(image_in<T>(input), box, image_out<T>(to), crop_.filter(), context.arena());
    });
  }

  ResizedCrop crop_;
};

}  // namespace

void register_augment_random_resized_crop(Registry& registry) {
  StageType type{
      .type = "augment.random_resized_crop",
      .doc = "Crops a part of random area and aspect ratio, and resizes it",
      .kind = StageKind::sample,
      .traits = {.random = true, .strided_output = true},
      .example = R"({"size": 28})",
      .make = [](const Params& params) { return std::make_unique<RandomResizedCrop>(params); }};
  add_resized_crop_params(type.params);
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
