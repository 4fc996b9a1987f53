// decode.image: JPEG by libjpeg-turbo, other formats by OpenCV, to RGB.
#include <string>
#include <vector>

#include "stages/support/field_stage.hpp"
#include "stages/support/image_decoder.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

unsigned jpeg_scale(std::int64_t scale) {
  if (scale == 1 || scale == 2 || scale == 4 || scale == 8) return static_cast<unsigned>(scale);
  throw Error(ErrorKind::usage, "scale is " + std::to_string(scale) + ", must be 1, 2, 4 or 8");
}

std::vector<ParamSpec> params_of_decode() {
  std::vector<ParamSpec> params = decode_params();
  params.push_back({.name = "scale",
                    .type = ParamType::integer,
                    .doc = "JPEG comes at 1/1, 1/2, 1/4 or 1/8 of its size, rounded up, for less "
                           "work; other formats are decoded as they are",
                    .default_value = std::int64_t{1},
                    .minimum = 1,
                    .maximum = 8});
  return params;
}

class DecodeImageStage final : public FieldStage {
 public:
  explicit DecodeImageStage(const Params& params)
      : FieldStage(params), decoder_(params, jpeg_scale(params.integer("scale"))) {}

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
       .params = params_of_decode(),
       .example = "{}",
       .make = [](const Params& params) { return std::make_unique<DecodeImageStage>(params); }});
}

}  // namespace cachebisect::stages
