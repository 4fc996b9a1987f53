#include "cachebisect/bisect/costs/counted_cost.hpp"

namespace cachebisect {

StageCost counted_cost(Category category, const StageCounters& counters) {
  StageCost cost;
  if (counters.samples == 0 || category == Category::device) return cost;
  const auto samples = static_cast<double>(counters.samples);
  const double busy = counters.busy_seconds / samples;
  const double serial = counters.serial_seconds / samples;
  if (category == Category::copy) {
    cost.copy_seconds = busy;
    return cost;
  }
  cost.cpu_seconds = counters.cpu_seconds / samples;
  if (category == Category::transfer) {
    // A pin thread receives at the same time as the training thread works, but for its Python.
    cost.trainer_seconds = counters.serial_seconds > 0 ? serial : busy;
  } else if (category == Category::pin) {
    // One thread pins; its Python and that of the training thread take turns.
    cost.trainer_seconds = serial;
    cost.serial_seconds = busy;
  } else {
    cost.serial_seconds = serial;
    cost.worker_seconds = busy;
  }
  return cost;
}

}  // namespace cachebisect
