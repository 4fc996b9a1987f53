// device.unpack_bits: zeros and ones from the bits that augment.pack_bits made, after the copy.
#include <string>

#include "stages/support/batch_field_stage.hpp"
#include "stages/support/cast_spec.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/sample_shape.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceUnpackBits final : public BatchFieldStage {
 public:
  explicit DeviceUnpackBits(const Params& params)
      : BatchFieldStage(params), shape_(sample_shape_of(params)), dtype_(dtype_of(params)) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) const override {
    require_dtype(input, {DType::uint8});
    if (input.shape.rank() != 2 || 8 * input.shape[1] != shape_.elements()) {
      throw Error(ErrorKind::usage, "field \"" + input.name + "\" is " + input.shape.to_string() +
                                        ", must have an eighth of the values of " +
                                        shape_.to_string() + " in bytes");
    }
    return {input.name, dtype_, shape_.with_leading(input.shape[0])};
  }

  void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& /*batch*/,
           const DeviceContext& context) const override {
    const Shape flat{from.shape[0], shape_.elements()};
    const bool bytes = size_of(dtype_) == 1;
    std::byte* const unpacked =
        bytes ? to.data : context.scratch(static_cast<std::size_t>(flat.elements()));
    context.ops().unpack_bits(from, dense_view(unpacked, DType::uint8, flat), context.stream());
    if (bytes) return;
    context.ops().cast(dense_view(unpacked, DType::uint8, to.shape), to, context.stream());
  }

  Shape shape_;
  DType dtype_;
};

}  // namespace

void register_device_unpack_bits(Registry& registry) {
  ParamSpec dtype = dtype_param({DType::uint8, DType::int8, DType::uint16, DType::int32,
                                 DType::int64, DType::float32, DType::float64, DType::boolean});
  dtype.default_value = std::string("uint8");
  registry.add(
      {.type = "device.unpack_bits",
       .doc = "Bits of augment.pack_bits as zeros and ones, on the device",
       .kind = StageKind::device,
       .params = {sample_shape_param(), dtype},
       .example = R"({"shape": [32, 32], "fields": ["mask"]})",
       .make = [](const Params& params) { return std::make_unique<DeviceUnpackBits>(params); }});
}

}  // namespace cachebisect::stages
