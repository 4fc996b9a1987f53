// augment.vertical_flip: mirrors top and bottom with probability p.
#include "stages/support/flip_stage.hpp"

namespace cachebisect::stages {

void register_augment_vertical_flip(Registry& registry) {
  add_flip_stage(registry, "augment.vertical_flip", "Mirrors top and bottom with probability p",
                 Mirror::top_bottom);
}

}  // namespace cachebisect::stages
