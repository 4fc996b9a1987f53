// The executor's ring in virtual time: fused workers, claims with a grain, back-pressure, device
// buffers, copy and step timelines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachebisect/protocol/stage_counters.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect {

/// What a run of the ring replays, skips and serves.
struct RingRequest {
  int boundary = 0;               ///< 0: live
  int bypass = 0;                 ///< stage (1-based) that serves its output from a cache; 0: none
  bool shadow = false;            ///< the step reads cached device batches; the rest is paced by it
  std::uint64_t first_index = 0;  ///< sample i of the run is sample first_index + i of the data
  /// Samples that go round: first_cached .. first_cached + cache_samples - 1; 0: they do not.
  std::uint64_t cache_samples = 0;
  std::uint64_t first_cached = 0;
  int steps = 1;
};

/// Times are seconds since the start of an empty ring.
struct RingRun {
  std::vector<double> step_ends;
  std::vector<double> starved_by;  ///< by step: seconds starved up to it
  std::vector<double> trainer_by;  ///< by step: seconds that the training thread was busy
  std::size_t cycle_steps = 0;     ///< the last so many repeat for ever; 0: not known
  double cpu_seconds = 0;
  std::optional<double> ready_batches;
  std::vector<StageCounters> stages;  ///< one a stage of the whole chain
};

/// Deterministic: equal arguments give equal runs. Not thread safe.
class CACHEBISECT_INTERNAL_API SimulatedRing {
 public:
  /// Throws Error(usage) for a chain that cannot run.
  explicit SimulatedRing(SimulatedChain chain);

  [[nodiscard]] RingRun run(const RingRequest& request) const;
  /// Seconds a sample in the long run: of the cycle that the ring falls into, where threads share
  /// cores and it does so in time; else from `steps` steps after half as many untimed ones.
  [[nodiscard]] double seconds_per_sample(int boundary, int steps = 400) const;

  [[nodiscard]] const SimulatedChain& chain() const noexcept { return chain_; }
  /// True where every sample of a stage costs the same.
  [[nodiscard]] bool constant() const noexcept { return constant_; }
  /// True where workers and training thread want more cores than there are.
  [[nodiscard]] bool crowded() const noexcept;
  /// Seconds of a stage (0-based, of chain().stages) for sample `position` of a run.
  [[nodiscard]] double cost(std::size_t stage, const RingRequest& request,
                            std::int64_t position) const noexcept {
    if (static_cast<int>(stage) + 1 == request.bypass) return chain_.serve_seconds;
    const double seconds = chain_.stages[stage].seconds;
    if (constant_) return seconds;
    std::uint64_t index = request.first_index + static_cast<std::uint64_t>(position);
    if (request.cache_samples > 0) {
      index = request.first_cached + index % request.cache_samples;
    }
    return seconds * jitter_[stage].factor(index + jitter_places_[stage]);
  }
  /// Seconds of collate for a batch of that run.
  [[nodiscard]] double collate_cost(const RingRequest& request) const noexcept;

 private:
  SimulatedChain chain_;
  std::vector<JitterSequence> jitter_;
  std::vector<std::uint64_t> jitter_places_;  ///< by stage: where in its sequence sample 0 lies
  bool constant_ = true;
};

}  // namespace cachebisect
