// augment.horizontal_flip: mirrors left and right with probability p.
#include "stages/support/flip_stage.hpp"

namespace cachebisect::stages {

void register_augment_horizontal_flip(Registry& registry) {
  add_flip_stage(registry, "augment.horizontal_flip", "Mirrors left and right with probability p",
                 Mirror::left_right);
}

}  // namespace cachebisect::stages
