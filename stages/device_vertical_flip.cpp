// device.vertical_flip: flips each image top to bottom with probability p, after the copy.
#include "stages/support/device_flip_stage.hpp"

namespace cachebisect::stages {

void register_device_vertical_flip(Registry& registry) {
  add_device_flip_stage(registry, "device.vertical_flip",
                        "Flips top to bottom with probability p, on the device",
                        FlipDirection::top_bottom);
}

}  // namespace cachebisect::stages
