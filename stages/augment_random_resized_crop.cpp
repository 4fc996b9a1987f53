// augment.random_resized_crop: a random crop, resized (torchvision's RandomResizedCrop).
#include "stages/kernels/geometry.hpp"
#include "stages/kernels/resize.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class RandomResizedCrop final : public FieldStage {
 public:
  explicit RandomResizedCrop(const Params& params)
      : FieldStage(params),
        size_(required_size(params)),
        scale_(range_of(params, "scale")),
        ratio_(range_of(params, "ratio")),
        filter_(resize_filter(params)) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8, DType::float32});
    FieldSpec output = input;
    output.shape = {size_.height, size_.width, input.shape[2]};
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    const Shape& shape = input.shape;
    if (shape[0] == 0 || shape[1] == 0) refuse_sample("an empty image cannot be cropped", shape);
    RandomStream random = context.random();
    const Box box = random_resized_box(shape[0], shape[1], scale_, ratio_, random);
    const TensorView to =
        out.resize_strided(input.dtype, Shape{size_.height, size_.width, shape[2]});
    visit_pixel(input.dtype, [&](auto pixel) {
      using T = decltype(pixel);
      resize(image_in<T>(input), box, image_out<T>(to), filter_, context.arena());
    });
  }

  ImageSize size_;
  Range scale_;
  Range ratio_;
  ResizeFilter filter_;
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
  add_size_params(type.params);
  type.params.push_back(
      range_param("scale", "range of the crop's share of the image area", 0.08, 1, 1e-6, 1));
  type.params.push_back(range_param("ratio", "range of the crop's aspect ratio, width over height",
                                    3.0 / 4, 4.0 / 3, 1e-3, 1e3));
  type.params.push_back(interpolation_param());
  type.params.push_back(antialias_param());
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
