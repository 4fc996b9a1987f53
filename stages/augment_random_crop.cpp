// augment.random_crop: a crop at a random position, after padding (torchvision's RandomCrop).
#include "stages/kernels/crop.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/random_crop_position.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class RandomCrop final : public FieldStage {
 public:
  explicit RandomCrop(const Params& params) : FieldStage(params), position_(params) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {});
    position_.require_room({input.shape[0], input.shape[1]}, ErrorKind::usage);
    FieldSpec output = input;
    output.shape = {position_.size().height, position_.size().width, input.shape[2]};
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    const ImageSize image{input.shape[0], input.shape[1]};
    position_.require_room(image, ErrorKind::data);
    const auto [top, left] = position_.draw(image, context.random());
    const Shape shape{position_.size().height, position_.size().width, input.shape[2]};
    if (top == 0 && left == 0 && shape == input.shape) return;
    const TensorView to = out.resize_strided(input.dtype, shape);
    visit_bits(input.dtype, [&, top = top, left = left](auto bits) {
      using T = decltype(bits);
      crop(image_in<T>(input), top, left, image_out<T>(to), T{0});
    });
  }

  RandomCropPosition position_;
};

}  // namespace

void register_augment_random_crop(Registry& registry) {
  registry.add({.type = "augment.random_crop",
                .doc = "Crops a fixed size at a random position, after padding with zeros",
                .kind = StageKind::sample,
                .traits = {.random = true, .strided_output = true},
                .params = random_crop_params(),
                .example = R"({"size": 32, "padding": 4})",
                .make = [](const Params& params) { return std::make_unique<RandomCrop>(params); }});
}

}  // namespace cachebisect::stages
