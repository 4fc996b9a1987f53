// device.center_crop: the centre of each image, after the copy.
#include "stages/kernels/geometry.hpp"
#include "stages/support/image_batch_stage.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

class DeviceCenterCrop final : public WindowStage {
 public:
  explicit DeviceCenterCrop(const Params& params)
      : WindowStage(params), size_(required_size(params)) {}

 private:
  ImageSize output_size(const ImageSize& /*input*/) const override { return size_; }
  ImageWindow window(const ImageSize& input, RandomStream /*random*/) const override {
    return {static_cast<std::int32_t>(center_offset(input.height, size_.height)),
            static_cast<std::int32_t>(center_offset(input.width, size_.width))};
  }

  ImageSize size_;
};

}  // namespace

void register_device_center_crop(Registry& registry) {
  StageType type{
      .type = "device.center_crop",
      .doc = "Crops the centre; smaller images are padded with zeros, on the device",
      .kind = StageKind::device,
      .example = R"({"size": 24})",
      .make = [](const Params& params) { return std::make_unique<DeviceCenterCrop>(params); }};
  add_size_params(type.params);
  type.params.push_back(layout_param("layout of the input batch", "NCHW"));
  registry.add(std::move(type));
}

}  // namespace cachebisect::stages
