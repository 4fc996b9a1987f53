// augment.vertical_flip: flips top to bottom with probability p.
#include "stages/support/flip_stage.hpp"

namespace cachebisect::stages {

void register_augment_vertical_flip(Registry& registry) {
  add_flip_stage(registry, "augment.vertical_flip", "Flips top to bottom with probability p",
                 FlipDirection::top_bottom);
}

}  // namespace cachebisect::stages
