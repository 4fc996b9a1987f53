#include "cachebisect/train/train_threads.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/machine.hpp"

namespace cachebisect {

int train_threads(const TrainSpec& train, int workers) {
  if (train.threads) return *train.threads;
  const int usable = static_cast<int>(std::floor(physical_cores(probe_machine())));
  return std::max(1, usable - workers);
}

}  // namespace cachebisect
