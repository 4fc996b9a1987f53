// The executor's ring in virtual time: fused workers, claims of grains or whole batches,
// back-pressure, device buffers, copy and step timelines.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/simulate/ring_run.hpp"
#include "cachebisect/simulate/stage_costs.hpp"

namespace cachebisect {

/// Deterministic: equal arguments give equal runs. Immutable, so thread safe.
class CACHEBISECT_INTERNAL_API SimulatedRing {
 public:
  /// Throws Error(usage) for a chain that cannot run.
  explicit SimulatedRing(SimulatedChain chain);

  [[nodiscard]] RingRun run(const RingRequest& request) const;
  /// The same run, but it ends as soon as the ring is in a state in which it was before: from there
  /// on it repeats forever, and RingRun::cycle_steps says how many steps repeat. Runs without
  /// workers, and of stages with factors of their own, are not searched for cycles.
  [[nodiscard]] RingRun run_to_cycle(const RingRequest& request) const;
  /// Seconds per sample in the long run: over the cycle that the ring falls into, if it does so
  /// within 1.5 * `steps` steps; otherwise over `steps` steps after half as many untimed ones.
  [[nodiscard]] double seconds_per_sample(int boundary, int steps = 400) const;

  [[nodiscard]] const SimulatedChain& chain() const noexcept { return costs_.chain(); }
  /// True if every sample of a stage costs the same.
  [[nodiscard]] bool constant() const noexcept { return costs_.constant(); }
  /// False if costs may never repeat.
  [[nodiscard]] bool periodic() const noexcept { return costs_.periodic(); }

  /// True if workers load for a replay at this boundary.
  [[nodiscard]] bool needs_workers(int boundary) const noexcept;

 private:
  StageCosts costs_;
};

}  // namespace cachebisect
