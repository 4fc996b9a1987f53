#include "stages/support/device_flip_stage.hpp"

#include <memory>

#include "stages/support/image_batch_stage.hpp"

namespace cachebisect::stages {
namespace {

class DeviceFlipStage final : public WindowStage {
 public:
  DeviceFlipStage(const Params& params, FlipDirection direction)
      : WindowStage(params), p_(params.number("p")), direction_(direction) {}

 private:
  ImageSize output_size(const ImageSize& input) const override { return input; }
  ImageWindow window(const ImageSize& /*input*/, RandomStream random) const override {
    const bool flips = random.uniform() < p_;
    return {.flip_rows = flips && direction_ == FlipDirection::top_bottom,
            .flip_columns = flips && direction_ == FlipDirection::left_right};
  }

  double p_;
  FlipDirection direction_;
};

}  // namespace

void add_device_flip_stage(Registry& registry, const std::string& type, const std::string& doc,
                           FlipDirection direction) {
  registry.add({.type = type,
                .doc = doc,
                .kind = StageKind::device,
                .traits = {.random = true},
                .params = {probability_param(0.5, "probability of a flip"),
                           layout_param("layout of the input batch", "NCHW")},
                .example = R"({"p": 0.5})",
                .make = [direction](const Params& params) {
                  return std::make_unique<DeviceFlipStage>(params, direction);
                }});
}

}  // namespace cachebisect::stages
