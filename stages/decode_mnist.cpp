// decode.mnist: the 784 bytes of an MNIST record as an image.
#include "stages/support/field_stage.hpp"

#include "cachebisect/data/shown_bytes.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

const Shape kMnistRecord{784};
const Shape kMnistImage{28, 28, 1};

class DecodeMnist final : public FieldStage {
 public:
  using FieldStage::FieldStage;

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_bytes(input, kMnistRecord, "a record of read.mnist");
    return {input.name, DType::uint8, kMnistImage};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext&) const override {
    show_bytes(out, checked_bytes(input, kMnistRecord).data(), kMnistImage);
  }
};

}  // namespace

void register_decode_mnist(Registry& registry) {
  registry.add(
      {.type = "decode.mnist",
       .doc = "MNIST bytes [784] to an image [28, 28, 1] uint8",
       .kind = StageKind::sample,
       .traits = {.strided_output = true},
       .params = {},
       .example = "{}",
       .make = [](const Params& params) { return std::make_unique<DecodeMnist>(params); }});
}

}  // namespace cachebisect::stages
