// device.color_jitter: brightness, contrast, saturation and hue of each image, after the copy.
#include <array>

#include "stages/support/color_jitter_draw.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/image_batch_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceColorJitter final : public ImageBatchStage {
 public:
  explicit DeviceColorJitter(const Params& params) : ImageBatchStage(params), jitter_(params) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) const override {
    require_images(input);
    require_dtype(input, {DType::uint8}, "put it before device.to_float or device.normalize");
    const std::int64_t count = input.shape[channels(input.shape)];
    if (!has_color_channels(count)) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" has " + std::to_string(count) +
                                        " channels, must have 1 or 3");
    }
    return input;
  }

  void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& batch,
           const DeviceContext& context) const override {
    for_each_part(from, to, [&](const Part& part) {
      std::array<ColorChanges, kMaxImagesAtOnce> changes;
      for (std::size_t i = 0; i < part.images(); ++i) {
        changes[i] = jitter_.draw(context.random(batch, part.first + i));
      }
      context.ops().adjust_color(
          part.from, part.to, {changes.data(), part.images()}, channels(from.shape),
          context.scratch(kMaxImagesAtOnce * sizeof(std::uint64_t)), context.stream());
    });
  }

  ColorJitterDraw jitter_;
};

}  // namespace

void register_device_color_jitter(Registry& registry) {
  StageType type{
      .type = "device.color_jitter",
      .doc =
          "Changes brightness, contrast, saturation and hue by random factors in random order, "
          "on the device",
      .kind = StageKind::device,
      .traits = {.random = true},
      .params = color_jitter_params(),
      .example = R"({"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1})",
      .make = [](const Params& params) { return std::make_unique<DeviceColorJitter>(params); }};
  type.params.push_back(layout_param("layout of the input batch", "NCHW"));
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
