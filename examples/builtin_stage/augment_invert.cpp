#include "cachebisect/stages.hpp"

namespace cachebisect {
namespace {

class Invert final : public SampleStage {
 public:
  SampleSpec infer(const SampleSpec& input) override {
    const FieldSpec* image = find_field(input, "image");
    if (image == nullptr || image->dtype != DType::uint8)
      throw Error(ErrorKind::usage, "needs a uint8 image");
    return input;
  }
  void process(const Sample& input, Sample& out, const SampleContext& /*context*/) const override {
    const auto from = input.field("image").as<std::uint8_t>();
    const auto to = out.field("image").resize_as<std::uint8_t>(input.field("image").shape());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<std::uint8_t>(255 - from[i]);
  }
};

}  // namespace

namespace stages {

void register_augment_invert(Registry& registry) {
  StageType type;
  type.type = "augment.invert";
  type.doc = "Inverts an image.";
  type.kind = StageKind::sample;
  type.example = "{}";
  type.make = [](const Params& /*params*/) { return std::make_unique<Invert>(); };
  registry.add(std::move(type));
}

}  // namespace stages
}  // namespace cachebisect
