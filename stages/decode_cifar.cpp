// decode.cifar: the planar bytes of a CIFAR record as an image.
#include <cstdint>
#include <cstring>

#include "stages/kernels/simd.hpp"
#include "stages/support/field_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::int64_t kPlane = kSide * kSide;
const Shape kRecord{3 * kPlane};
const Shape kImage{kSide, kSide, 3};

void interleave(const std::byte* planes, std::byte* pixels) {
  const auto* red = reinterpret_cast<const std::uint8_t*>(planes);
  const std::uint8_t* green = red + kPlane;
  const std::uint8_t* blue = green + kPlane;
  auto* to = reinterpret_cast<std::uint8_t*>(pixels);
  for (std::int64_t i = interleave_rgb_simd(red, green, blue, to, kPlane); i < kPlane; ++i) {
    to[3 * i] = red[i];
    to[3 * i + 1] = green[i];
    to[3 * i + 2] = blue[i];
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

class DecodeCifar final : public FieldStage {
 public:
  using FieldStage::FieldStage;

 private:
  FieldSpec infer_field(const FieldSpec& input) override {
    require_bytes(input, kRecord, "a record of read.cifar10 or read.cifar100");
    return {input.name, DType::uint8, kImage};
  }

  void process_field(const ConstTensorView& input, Field& out,
                     const SampleContext&) const override {
    const std::byte* planes = checked_bytes(input, kRecord).data();
    write_image(planes, out.resize_strided(DType::uint8, kImage));
  }
};

}  // namespace

void register_decode_cifar(Registry& registry) {
  registry.add(
      {.type = "decode.cifar",
       .doc = "Planar CIFAR bytes [3072] to an image [32, 32, 3] uint8",
       .kind = StageKind::sample,
       .traits = {.strided_output = true},
       .params = {},
       .example = "{}",
       .make = [](const Params& params) { return std::make_unique<DecodeCifar>(params); }});
}

}  // namespace cachebisect::stages
