// device.one_hot: integer labels as one-hot float32 vectors, after the copy.
#include "stages/support/batch_field_stage.hpp"
#include "stages/support/one_hot_spec.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceOneHot final : public BatchFieldStage {
 public:
  explicit DeviceOneHot(const Params& params)
      : BatchFieldStage(params), classes_(params.integer("classes")) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) const override {
    require_labels(input);
    if (input.shape.rank() != 1) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" is " + input.shape.to_string() +
                                        ", must be one label per sample");
    }
    return {input.name, DType::float32, Shape{input.shape[0], classes_}};
  }

  void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& /*batch*/,
           const DeviceContext& context) const override {
    context.ops().one_hot(from, to, 1.0F, 0.0F, context.stream());
  }

  std::int64_t classes_;
};

}  // namespace

void register_device_one_hot(Registry& registry) {
  registry.add(
      {.type = "device.one_hot",
       .doc = "Converts integer labels to one-hot float32 vectors, on the device",
       .kind = StageKind::device,
       .params = one_hot_params(),
       .example = R"({"classes": 10})",
       .make = [](const Params& params) { return std::make_unique<DeviceOneHot>(params); }});
}

}  // namespace cachebisect::stages
