#include "cachebisect/train/train_step.hpp"

namespace cachebisect {

TrainStep::~TrainStep() = default;

StepProfiler::~StepProfiler() = default;

std::string TrainStep::description() const { return name(); }

}  // namespace cachebisect
