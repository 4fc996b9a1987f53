// augment.center_crop: the centre of an image; smaller images are padded with zeros.
#include "stages/kernels/crop.hpp"
#include "stages/kernels/geometry.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class CenterCrop final : public FieldStage {
 public:
  explicit CenterCrop(const Params& params) : FieldStage(params), size_(required_size(params)) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {});
    FieldSpec output = input;
    output.shape = {size_.height, size_.width, input.shape[2]};
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext&) const override {
    const Shape shape{size_.height, size_.width, input.shape[2]};
    if (shape == input.shape) return;
    const TensorView to = out.resize_strided(input.dtype, shape);
    const std::int64_t top = center_offset(input.shape[0], size_.height);
    const std::int64_t left = center_offset(input.shape[1], size_.width);
    visit_bits(input.dtype, [&](auto bits) {
      using T = decltype(bits);
      crop(image_in<T>(input), top, left, image_out<T>(to), T{0});
    });
  }

  ImageSize size_;
};

}  // namespace

void register_augment_center_crop(Registry& registry) {
  StageType type{.type = "augment.center_crop",
                 .doc = "Crops the centre; smaller images are padded with zeros",
                 .kind = StageKind::sample,
                 .traits = {.strided_output = true},
                 .example = R"({"size": 24})",
                 .make = [](const Params& params) { return std::make_unique<CenterCrop>(params); }};
  add_size_params(type.params);
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
