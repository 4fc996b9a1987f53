// device.horizontal_flip: flips each image left to right with probability p, after the copy.
#include "stages/support/device_flip_stage.hpp"

namespace cachebisect::stages {

void register_device_horizontal_flip(Registry& registry) {
  add_device_flip_stage(registry, "device.horizontal_flip",
                        "Flips left to right with probability p, on the device",
                        FlipDirection::left_right);
}

}  // namespace cachebisect::stages
