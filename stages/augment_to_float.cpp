// augment.to_float: uint8 as float32 in 0..1 (torchvision's ToTensor without the layout change).
#include "stages/kernels/byte_map.hpp"
#include "stages/support/field_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class ToFloat final : public FieldStage {
 public:
  explicit ToFloat(const Params& params) : FieldStage(params) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8});
    FieldSpec output = input;
    output.dtype = DType::float32;
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext&) const override {
    const TensorView to = out.resize_strided(DType::float32, input.shape);
    map_bytes(image_in<std::uint8_t>(input), image_out<float>(to), maps_);
  }

  std::vector<ByteMap> maps_{ByteMap(0, 1)};
};

}  // namespace

void register_augment_to_float(Registry& registry) {
  registry.add({.type = "augment.to_float",
                .doc = "uint8 0..255 to float32 0..1",
                .kind = StageKind::sample,
                .traits = {.strided_output = true},
                .example = "{}",
                .make = [](const Params& params) { return std::make_unique<ToFloat>(params); }});
}

}  // namespace cachebisect::stages
