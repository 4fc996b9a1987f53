// device.normalize: (value - mean) / std per channel, after the copy.
#include "stages/support/batch_field_stage.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/layout_param.hpp"
#include "stages/support/normalization.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceNormalize final : public BatchFieldStage {
 public:
  explicit DeviceNormalize(const Params& params)
      : BatchFieldStage(params),
        layout_(parse_batch_layout(params.string("layout"))),
        normalization_(normalization_of(params)) {
    for (std::size_t c = 0; c < normalization_.entries(); ++c) {
      const double scale = 1.0 / static_cast<double>(normalization_.std[c]);
      scale_.push_back(static_cast<float>(scale));
      byte_scale_.push_back(static_cast<float>(scale / 255));
      bias_.push_back(static_cast<float>(-static_cast<double>(normalization_.mean[c]) * scale));
    }
  }

 private:
  FieldSpec infer_field(const FieldSpec& input) const override {
    require_dtype(input, {DType::uint8, DType::float16, DType::bfloat16, DType::float32});
    if (input.shape.rank() < 2) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" is " + input.shape.to_string() +
                                        ", must have a channel axis after the batch axis");
    }
    require_entries("mean and std have", normalization_.entries(), input,
                    input.shape[channel_axis(layout_, input.shape)]);
    return {input.name, DType::float32, input.shape};
  }

  void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& /*batch*/,
           const DeviceContext& context) const override {
    const bool bytes = from.dtype == DType::uint8;
    context.ops().affine(from, to, bytes ? byte_scale_ : scale_, bias_,
                         channel_axis(layout_, from.shape), context.stream());
  }

  BatchLayout layout_;
  Normalization normalization_;
  std::vector<float> scale_;
  std::vector<float> byte_scale_;
  std::vector<float> bias_;
};

}  // namespace

void register_device_normalize(Registry& registry) {
  StageType type{
      .type = "device.normalize",
      .doc =
          "(value - mean) / std per channel, as float32, on the device; uint8 is first "
          "scaled to 0..1",
      .kind = StageKind::device,
      .params = normalization_params(),
      .example = R"({"mean": [0.5], "std": [0.25]})",
      .make = [](const Params& params) { return std::make_unique<DeviceNormalize>(params); }};
  type.params.push_back(layout_param("layout of the input batch", "NCHW"));
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
