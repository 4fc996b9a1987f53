// device.unpack_nonzeros: fields from the positions and values of augment.pack_nonzeros, after the
// copy.
#include <string>

#include "stages/support/batch_field_stage.hpp"
#include "stages/support/cast_spec.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/sample_shape.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceUnpackNonzeros final : public BatchFieldStage {
 public:
  explicit DeviceUnpackNonzeros(const Params& params)
      : BatchFieldStage(params), shape_(sample_shape_of(params)), dtype_(dtype_of(params)) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) const override {
    require_dtype(input, {DType::uint8});
    const auto entry = static_cast<std::int64_t>(sizeof(std::int32_t) + size_of(dtype_));
    if (input.shape.rank() != 2 || input.shape[1] % entry != 0) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" is " + input.shape.to_string() +
                                        ", must have positions and values of " +
                                        std::string(to_string(dtype_)) + ": a multiple of " +
                                        std::to_string(entry) + " bytes");
    }
    return {input.name, dtype_, shape_.with_leading(input.shape[0])};
  }

  void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& /*batch*/,
           const DeviceContext& context) const override {
    context.ops().unpack_nonzeros(from, to, context.stream());
  }

  Shape shape_;
  DType dtype_;
};

}  // namespace

void register_device_unpack_nonzeros(Registry& registry) {
  registry.add(
      {.type = "device.unpack_nonzeros",
       .doc = "Positions and values of augment.pack_nonzeros as the fields that they are, on the "
              "device",
       .kind = StageKind::device,
       .params = {sample_shape_param(),
                  dtype_param({DType::uint8, DType::int8, DType::uint16, DType::int32, DType::int64,
                               DType::float16, DType::bfloat16, DType::float32, DType::float64,
                               DType::boolean})},
       .example = R"({"shape": [30000], "dtype": "float32", "fields": ["words"]})",
       .make = [](const Params& params) {
         return std::make_unique<DeviceUnpackNonzeros>(params);
       }});
}

}  // namespace cachebisect::stages
