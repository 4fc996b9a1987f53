// augment.horizontal_flip: flips left to right with probability p.
#include "stages/support/flip_stage.hpp"

namespace cachebisect::stages {

void register_augment_horizontal_flip(Registry& registry) {
  add_flip_stage(registry, "augment.horizontal_flip", "Flips left to right with probability p",
                 FlipDirection::left_right);
}

}  // namespace cachebisect::stages
