// device.to_float: uint8 as float32 in 0..1, after the copy.
#include <array>

#include "stages/support/batch_field_stage.hpp"
#include "stages/support/field_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceToFloat final : public BatchFieldStage {
 public:
  using BatchFieldStage::BatchFieldStage;

 private:
  FieldSpec infer_field(const FieldSpec& input) const override {
    require_dtype(input, {DType::uint8});
    return {input.name, DType::float32, input.shape};
  }

  void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& /*batch*/,
           const DeviceContext& context) const override {
    constexpr std::array<float, 1> kScale{1.0F / 255.0F};
    constexpr std::array<float, 1> kBias{0.0F};
    context.ops().affine(from, to, kScale, kBias, from.shape.rank() - 1, context.stream());
  }
};

}  // namespace

void register_device_to_float(Registry& registry) {
  registry.add(
      {.type = "device.to_float",
       .doc = "uint8 0..255 to float32 0..1, on the device",
       .kind = StageKind::device,
       .example = "{}",
       .make = [](const Params& params) { return std::make_unique<DeviceToFloat>(params); }});
}

}  // namespace cachebisect::stages
