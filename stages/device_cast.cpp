// device.cast: conversion to another element type, after the copy.
#include "stages/support/batch_field_stage.hpp"
#include "stages/support/cast_spec.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceCast final : public BatchFieldStage {
 public:
  explicit DeviceCast(const Params& params) : BatchFieldStage(params), dtype_(dtype_of(params)) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) const override {
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
                .doc = "Converts to another element type on the device, without scaling; integers "
                       "keep their lower bits",
                .kind = StageKind::device,
                .params = {dtype_param({DType::float16, DType::bfloat16, DType::float32,
                                        DType::float64, DType::uint8, DType::int8, DType::uint16,
                                        DType::int32, DType::int64, DType::boolean})},
                .example = R"({"dtype": "bfloat16"})",
                .make = [](const Params& params) { return std::make_unique<DeviceCast>(params); }});
}

}  // namespace cachebisect::stages
