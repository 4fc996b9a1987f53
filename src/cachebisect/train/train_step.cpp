#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

TrainStep::~TrainStep() = default;

}  // namespace cachebisect
