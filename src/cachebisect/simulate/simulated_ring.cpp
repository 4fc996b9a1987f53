#include "cachebisect/simulate/simulated_ring.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/simulate/cycle_search.hpp"
#include "cachebisect/simulate/inline_run.hpp"
#include "cachebisect/simulate/worker_ring.hpp"

namespace cachebisect {

SimulatedRing::SimulatedRing(SimulatedChain chain) : costs_(std::move(chain)) {}

bool SimulatedRing::needs_workers(int boundary) const noexcept {
  return chain().workers > 0 && boundary < chain().collate_boundary();
}

RingRun SimulatedRing::run(const RingRequest& request) const {
  if (!needs_workers(request.boundary)) return run_inline(costs_, request);
  return run_with_workers(costs_, request, nullptr);
}

RingRun SimulatedRing::run_to_cycle(const RingRequest& request) const {
  if (!needs_workers(request.boundary) || !costs_.periodic()) return run(request);
  CycleSearch search;
  return run_with_workers(costs_, request, &search);
}

double SimulatedRing::seconds_per_sample(int boundary, int steps) const {
  const int warmup = std::max(1, steps / 2);
  const RingRun result = run_to_cycle({.boundary = boundary, .steps = warmup + steps});
  const std::size_t timed =
      result.cycle_steps > 0 ? result.cycle_steps : static_cast<std::size_t>(steps);
  const auto& ends = result.step_ends;
  return (ends.back() - ends[ends.size() - 1 - timed]) /
         (static_cast<double>(timed) * static_cast<double>(chain().batch_size));
}

}  // namespace cachebisect
