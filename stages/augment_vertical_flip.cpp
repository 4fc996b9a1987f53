// augment.vertical_flip: mirrors top and bottom with probability p.
#include "stages/support/crop.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class VerticalFlip final : public FieldStage {
 public:
  explicit VerticalFlip(const Params& params) : FieldStage(params), p_(params.number("p")) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {});
    return input;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    if (!(context.random().uniform() < p_)) return;
    const TensorView to = out.resize_strided(input.dtype, input.shape);
    visit_bits(input.dtype, [&](auto bits) {
      using T = decltype(bits);
      flip_rows(image_in<T>(input), image_out<T>(to));
    });
  }

  double p_;
};

}  // namespace

void register_augment_vertical_flip(Registry& registry) {
  registry.add(
      {.type = "augment.vertical_flip",
       .doc = "Mirrors top and bottom with probability p",
       .kind = StageKind::sample,
       .traits = {.random = true, .strided_output = true},
       .params = {probability_param(0.5, "probability of a flip")},
       .example = R"({"p": 0.5})",
       .make = [](const Params& params) { return std::make_unique<VerticalFlip>(params); }});
}

}  // namespace cachebisect::stages
