// device.random_crop: a crop of each image at a random position, after the copy.
#include "stages/support/image_batch_stage.hpp"
#include "stages/support/random_crop_position.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceRandomCrop final : public WindowStage {
 public:
  explicit DeviceRandomCrop(const Params& params) : WindowStage(params), position_(params) {}

 private:
  ImageSize output_size(const ImageSize& input) const override {
    position_.require_room(input, ErrorKind::usage);
    return position_.size();
  }
  ImageWindow window(const ImageSize& input, RandomStream random) const override {
    const auto [top, left] = position_.draw(input, random);
    return {static_cast<std::int32_t>(top), static_cast<std::int32_t>(left)};
  }

  RandomCropPosition position_;
};

}  // namespace

void register_device_random_crop(Registry& registry) {
  StageType type{
      .type = "device.random_crop",
      .doc = "Crops a fixed size at a random position, after padding with zeros, on the device",
      .kind = StageKind::device,
      .traits = {.random = true},
      .params = random_crop_params(),
      .example = R"({"size": 32, "padding": 4})",
      .make = [](const Params& params) { return std::make_unique<DeviceRandomCrop>(params); }};
  type.params.push_back(layout_param("layout of the input batch", "NCHW"));
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
