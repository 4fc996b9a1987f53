// Real chains: photos, CIFAR and MNIST files with their decoding and augmentation, and a known wait
// at each category.
#pragma once

#include <vector>

#include "bench/habits/habits.hpp"

namespace cachebisect::habits {

/// One row per data set and device. Fifteen seeds (twelve on the cpu device, where no copy waits)
/// put a wait of 10, 20 and 40% of the throughput at each category once. On the emulated device the
/// step leaves the real stages 40% of the workers' time, so that the wait is the only loss; on the
/// cpu device a LibTorch model trains.
const std::vector<Habit>& real_chains();

}  // namespace cachebisect::habits
