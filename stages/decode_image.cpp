// decode.image: JPEG by libjpeg-turbo, other formats by OpenCV, to RGB.
#include "stages/support/field_stage.hpp"
#include "stages/support/image_decoder.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DecodeImageStage final : public FieldStage {
 public:
  explicit DecodeImageStage(const Params& params) : FieldStage(params), decoder_(params) {}

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_bytes(input, {kDynamic}, "the bytes of an encoded image");
    return {input.name, DType::uint8, {kDynamic, kDynamic, 3}};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext& context) const override {
    decoder_.decode(checked_bytes(input, {kDynamic}), out, context.arena());
  }

  ImageDecoder decoder_;
};

}  // namespace

void register_decode_image(Registry& registry) {
  registry.add(
      {.type = "decode.image",
       .doc = "JPEG, PNG, WebP, BMP, TIFF or PNM bytes to RGB [?, ?, 3] uint8",
       .kind = StageKind::sample,
       .traits = {.allocates = true},
       .params = decode_params(),
       .example = "{}",
       .make = [](const Params& params) { return std::make_unique<DecodeImageStage>(params); }});
}

}  // namespace cachebisect::stages
