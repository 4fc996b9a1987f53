// decode.mnist: the 784 bytes of an MNIST record as an image.
#include "stages/codecs/decode_common.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

const Shape kRecord{784};
const Shape kImage{28, 28, 1};

class DecodeMnist final : public SampleStage {
 public:
  explicit DecodeMnist(const Params& params) : fields_(params.strings("fields")) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override {
    SampleSpec output = input;
    for (const std::string& name : fields_)
      required_bytes(output, name, kRecord, "the records of read.mnist").shape = kImage;
    return output;
  }

  void process(const Sample& input, Sample& out, const SampleContext& /*context*/) const override {
    for (const std::string& name : fields_) {
      const ConstTensorView record = record_view(input.field(name), kRecord);
      copy_tensor(dense_view(record.data, DType::uint8, kImage),
                  out.field(name).resize_strided(DType::uint8, kImage));
    }
  }

 private:
  std::vector<std::string> fields_;
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
