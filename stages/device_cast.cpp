// device.cast: conversion to a floating-point type, after the copy.
#include "stages/support/batch_field_stage.hpp"
#include "stages/support/cast_spec.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceCast final : public BatchFieldStage {
 public:
  explicit DeviceCast(const Params& params)
      : BatchFieldStage(params), dtype_(float_dtype_of(params)) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) const override {
    require_castable(input);
    return {input.name, dtype_, input.shape};
  }

  void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& /*batch*/,
           const DeviceContext& context) const override {
    context.ops().cast(from, to, context.stream());
  }

  DType dtype_;
};

}  // namespace

void register_device_cast(Registry& registry) {
  registry.add({.type = "device.cast",
                .doc = "Converts to float16, bfloat16 or float32 on the device, without scaling",
                .kind = StageKind::device,
                .params = {float_dtype_param()},
                .example = R"({"dtype": "bfloat16"})",
                .make = [](const Params& params) { return std::make_unique<DeviceCast>(params); }});
}

}  // namespace cachebisect::stages
