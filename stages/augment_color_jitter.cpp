// augment.color_jitter: brightness, contrast, saturation and hue by random factors in random order.
#include <cstring>

#include "stages/kernels/color.hpp"
#include "stages/support/color_jitter_draw.hpp"
#include "stages/support/field_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class ColorJitter final : public FieldStage {
 public:
  explicit ColorJitter(const Params& params) : FieldStage(params), jitter_(params) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8}, "put it before augment.to_float or augment.normalize");
    const std::int64_t channels = input.shape[2];
    if (!has_color_channels(channels) && channels != kDynamic) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" has " + std::to_string(channels) +
                                        " channels, must have 1 or 3");
    }
    return input;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    if (!has_color_channels(input.shape[2]))
      refuse_sample("colour jitter needs 1 or 3 channels", input.shape);
    const TensorView to = out.resize(DType::uint8, input.shape);
    std::memcpy(to.data, input.data, input.byte_size());
    const Pixels pixels{{reinterpret_cast<std::uint8_t*>(to.data), input.byte_size()},
                        input.shape[2]};
    const ColorChanges changes = jitter_.draw(context.random());
    for (int i = 0; i < ColorChanges::kCount; ++i)
      change_color(pixels, changes.ops[i], changes.factors[i]);
  }

  ColorJitterDraw jitter_;
};

}  // namespace

void register_augment_color_jitter(Registry& registry) {
  registry.add(
      {.type = "augment.color_jitter",
       .doc = "Changes brightness, contrast, saturation and hue by random factors in random order",
       .kind = StageKind::sample,
       .traits = {.random = true},
       .params = color_jitter_params(),
       .example = R"({"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1})",
       .make = [](const Params& params) { return std::make_unique<ColorJitter>(params); }});
}

}  // namespace cachebisect::stages
