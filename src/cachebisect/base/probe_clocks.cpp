#include "cachebisect/base/probe_clocks.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

/// Seconds a reading: the least of a few short runs, which an interruption can only lengthen.
double reading_cost(double (*clock)() noexcept) noexcept {
  constexpr int kRuns = 4;
  constexpr int kReadings = 16;
  double least = 1;
  for (int run = 0; run < kRuns; ++run) {
    const double began = monotonic_seconds();
    for (int i = 0; i < kReadings; ++i) (void)clock();
    least = std::min(least, (monotonic_seconds() - began) / kReadings);
  }
  return least;
}

}  // namespace

ProbeClocks measure_probe_clocks() noexcept {
  ProbeClocks clocks;
  clocks.wall_cost = reading_cost(clocks.wall);
  clocks.cpu_cost = reading_cost(clocks.cpu);
  return clocks;
}

}  // namespace cachebisect
