#include "cachebisect/base/probe_clocks.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

/// Seconds per reading: the minimum over a few short runs, which interruptions can only lengthen.
double reading_cost(double (*clock)() noexcept) noexcept {
  constexpr int kRuns = 4;
  constexpr int kReadings = 16;
  double shortest = 1;
  for (int run = 0; run < kRuns; ++run) {
    const double began = monotonic_seconds();
    for (int i = 0; i < kReadings; ++i) (void)clock();
    shortest = std::min(shortest, (monotonic_seconds() - began) / kReadings);
  }
  return shortest;
}

}  // namespace

ProbeClocks measure_probe_clocks() noexcept {
  ProbeClocks clocks;
  clocks.wall_cost = reading_cost(clocks.wall);
  clocks.cpu_cost = reading_cost(clocks.cpu);
  return clocks;
}

}  // namespace cachebisect
