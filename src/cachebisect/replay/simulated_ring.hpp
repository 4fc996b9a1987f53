// The executor's ring in virtual time, event by event: fused workers, claims with a grain,
// back-pressure, device buffers, copy and step timelines.
#pragma once

#include <cstdint>
#include <vector>

#include "cachebisect/replay/simulated_chain.hpp"

namespace cachebisect {

/// Times are seconds since the start of an empty ring.
struct RingRun {
  std::vector<double> step_ends;
  double starved_seconds = 0;
  double cpu_seconds = 0;
  std::vector<InlineCounters> stages;  ///< one a stage of the whole chain
};

/// Deterministic: equal arguments give equal runs. Not thread safe.
class CACHEBISECT_API SimulatedRing {
 public:
  /// Throws Error(usage) for a chain that cannot run.
  explicit SimulatedRing(SimulatedChain chain);

  /// `steps` training steps replayed at `boundary` (0: live); sample i of the run is sample
  /// first_index + i of the data.
  [[nodiscard]] RingRun run(int boundary, std::uint64_t first_index, int steps) const;
  /// Seconds a sample in the long run, from `steps` steps after half as many untimed ones.
  [[nodiscard]] double seconds_per_sample(int boundary, int steps = 400) const;

  [[nodiscard]] const SimulatedChain& chain() const noexcept { return chain_; }
  /// True where every sample of a stage costs the same.
  [[nodiscard]] bool constant() const noexcept { return constant_; }

 private:
  friend class RingSimulation;
  [[nodiscard]] double cost(std::size_t stage, std::uint64_t index) const noexcept;

  SimulatedChain chain_;
  std::vector<JitterSequence> jitter_;
  bool constant_ = true;
};

}  // namespace cachebisect
