// augment.rotate: rotation by a random angle about the centre (torchvision's RandomRotation).
#include <cmath>

#include "stages/kernels/rotate.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Rotate final : public FieldStage {
 public:
  explicit Rotate(const Params& params)
      : FieldStage(params),
        bilinear_(params.string("interpolation") == "bilinear"),
        fill_(static_cast<float>(params.number("fill"))) {
    const auto& degrees = params.numbers("degrees");
    degrees_ = degrees.size() == 1 ? Range{-std::abs(degrees[0]), std::abs(degrees[0])}
                                   : range_of(params, "degrees");
  }

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8, DType::float32});
    return input;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    const double degrees = context.random().uniform(degrees_.low, degrees_.high);
    if (degrees == 0) return;
    const TensorView to = out.resize(input.dtype, input.shape);
    visit_pixel(input.dtype, [&](auto pixel) {
      using T = decltype(pixel);
      rotate(image_in<T>(input), reinterpret_cast<T*>(to.data), degrees, bilinear_, fill_);
    });
  }

  Range degrees_;
  bool bilinear_;
  float fill_;
};

}  // namespace

void register_augment_rotate(Registry& registry) {
  registry.add(
      {.type = "augment.rotate",
       .doc = "Rotates by a random angle about the centre; the size is kept",
       .kind = StageKind::sample,
       .traits = {.random = true},
       .params = {{.name = "degrees",
                   .type = ParamType::number_list,
                   .doc = "range of the angle, counter-clockwise; one number d means -d to d",
                   .minimum = -360,
                   .maximum = 360,
                   .min_items = 1,
                   .max_items = 2},
                  {.name = "interpolation",
                   .type = ParamType::string,
                   .doc = "how values between pixels are computed",
                   .default_value = std::string("nearest"),
                   .choices = {"nearest", "bilinear"}},
                  {.name = "fill",
                   .type = ParamType::number,
                   .doc = "value of pixels from outside the image",
                   .default_value = 0.0,
                   .minimum = -1e6,
                   .maximum = 1e6}},
       .example = R"({"degrees": [-15, 15], "interpolation": "bilinear"})",
       .make = [](const Params& params) { return std::make_unique<Rotate>(params); }});
}

}  // namespace cachebisect::stages
