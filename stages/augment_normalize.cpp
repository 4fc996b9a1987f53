// augment.normalize: (value - mean) / std per channel; uint8 is first scaled to 0..1.
#include "stages/kernels/byte_map.hpp"
#include "stages/support/field_stage.hpp"
#include "stages/support/normalization.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class Normalize final : public FieldStage {
 public:
  explicit Normalize(const Params& params)
      : FieldStage(params), normalization_(normalization_of(params)) {
    // Bytes give what augment.to_float and then this stage on floats give.
    for (std::size_t c = 0; c < normalization_.entries(); ++c) {
      maps_.emplace_back(normalization_.mean[c], normalization_.std[c]);
    }
  }

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_image(input, {DType::uint8, DType::float32});
    require_entries("mean and std have", normalization_.entries(), input, input.shape[2]);
    FieldSpec output = input;
    output.dtype = DType::float32;
    return output;
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext&) const override {
    check_entries("mean and std have", normalization_.entries(), input.shape);
    const ImageOut<float> to = image_out<float>(out.resize_strided(DType::float32, input.shape));
    if (input.dtype == DType::uint8) return map_bytes(image_in<std::uint8_t>(input), to, maps_);
    apply_floats(image_in<float>(input), to);
  }

  [[nodiscard]] float apply(float value, std::size_t channel) const noexcept {
    return (value - normalization_.mean[channel]) / normalization_.std[channel];
  }

  void apply_floats(const ImageIn<float>& in, const ImageOut<float>& out) const {
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t c = 0; c < in.channels; ++c) {
        const std::size_t entry = normalization_.entries() == 1 ? 0 : static_cast<std::size_t>(c);
        const float* from = in.row(y) + c;
        float* to = out.row(y) + c * out.channel_stride;
        for (std::int64_t x = 0; x < in.width; ++x)
          to[x * out.column_stride] = apply(from[x * in.channels], entry);
      }
    }
  }

  Normalization normalization_;
  std::vector<ByteMap> maps_;
};

}  // namespace

void register_augment_normalize(Registry& registry) {
  registry.add(
      {.type = "augment.normalize",
       .doc = "(value - mean) / std per channel, as float32; uint8 is first scaled to 0..1",
       .kind = StageKind::sample,
       .traits = {.strided_output = true},
       .params = normalization_params(),
       .example = R"({"mean": [0.4914, 0.4822, 0.4465], "std": [0.247, 0.2435, 0.2616]})",
       .make = [](const Params& params) { return std::make_unique<Normalize>(params); }});
}

}  // namespace cachebisect::stages
