// How many threads the training step gets on the cpu.
#pragma once

#include "cachebisect/pipeline/pipeline_spec.hpp"

namespace cachebisect {

/// train.threads, else the usable physical cores minus the workers, at least 1.
int train_threads(const TrainSpec& train, int workers);

}  // namespace cachebisect
