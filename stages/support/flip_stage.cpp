#include "stages/support/flip_stage.hpp"

#include <memory>

#include "stages/kernels/crop.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/param_specs.hpp"

namespace cachebisect::stages {
namespace {

class FlipStage final : public FieldStage {
 public:
  FlipStage(const Params& params, FlipDirection direction)
      : FieldStage(params), p_(params.number("p")), direction_(direction) {}

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
      if (direction_ == FlipDirection::left_right) {
        flip_columns(image_in<T>(input), image_out<T>(to));
      } else {
        flip_rows(image_in<T>(input), image_out<T>(to));
      }
    });
  }

  double p_;
  FlipDirection direction_;
};

}  // namespace

void add_flip_stage(Registry& registry, const std::string& type, const std::string& doc,
                    FlipDirection direction) {
  registry.add({.type = type,
                .doc = doc,
                .kind = StageKind::sample,
                .traits = {.random = true, .strided_output = true},
                .params = {probability_param(0.5, "probability of a flip")},
                .example = R"({"p": 0.5})",
                .make = [direction](const Params& params) {
                  return std::make_unique<FlipStage>(params, direction);
                }});
}

}  // namespace cachebisect::stages
