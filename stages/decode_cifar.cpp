// decode.cifar: the planar bytes of a CIFAR record as an image.
#include <cstring>

#include "stages/codecs/decode_common.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::int64_t kPlane = kSide * kSide;
const Shape kRecord{3 * kPlane};
const Shape kImage{kSide, kSide, 3};

void interleave(const std::byte* planes, std::byte* pixels) {
  const std::byte* red = planes;
  const std::byte* green = planes + kPlane;
  const std::byte* blue = planes + 2 * kPlane;
  for (std::int64_t i = 0; i < kPlane; ++i) {
    pixels[3 * i] = red[i];
    pixels[3 * i + 1] = green[i];
    pixels[3 * i + 2] = blue[i];
  }
}

void write_image(const std::byte* planes, const TensorView& to) {
  const ConstTensorView from{planes, DType::uint8, kImage, {kSide, 1, kPlane}};
  if (to.strides[0] == kSide && to.strides[1] == 1 && to.strides[2] == kPlane) {
    std::memcpy(to.data, planes, 3 * kPlane);
  } else if (to.is_dense()) {
    interleave(planes, to.data);
  } else {
    copy_tensor(from, to);
  }
}

class DecodeCifar final : public SampleStage {
 public:
  explicit DecodeCifar(const Params& params) : fields_(params.strings("fields")) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override {
    SampleSpec output = input;
    for (const std::string& name : fields_) {
      required_bytes(output, name, kRecord, "the records of read.cifar10 or read.cifar100").shape =
          kImage;
    }
    return output;
  }

  void process(const Sample& input, Sample& out, const SampleContext& /*context*/) const override {
    for (const std::string& name : fields_) {
      write_image(record_view(input.field(name), kRecord).data,
                  out.field(name).resize_strided(DType::uint8, kImage));
    }
  }

 private:
  std::vector<std::string> fields_;
};

}  // namespace

void register_decode_cifar(Registry& registry) {
  registry.add(
      {.type = "decode.cifar",
       .doc = "CIFAR's planar bytes [3072] to an image [32, 32, 3] uint8",
       .kind = StageKind::sample,
       .traits = {.strided_output = true},
       .params = {},
       .example = "{}",
       .make = [](const Params& params) { return std::make_unique<DecodeCifar>(params); }});
}

}  // namespace cachebisect::stages
