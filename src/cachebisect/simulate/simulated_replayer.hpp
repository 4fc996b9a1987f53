// A Replayer in virtual time: planted costs, planted noise, thousands of runs in seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/simulate/simulated_noise.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

namespace cachebisect {

/// What goes wrong on purpose. Blocks count from 0, in the order in which they run.
struct SimulatedFaults {
  std::optional<int> fail_at_block{};        ///< throws Error(data) naming `fail_stage`
  int fail_stage = 1;                        ///< 1-based
  std::optional<int> hang_at_block{};        ///< runs until a stop is requested, then throws
  int void_every = 0;                        ///< each such block was suspended: is_void; 0: never
  std::optional<int> clock_jump_at_block{};  ///< the clock leaps by clock_jump_seconds before it
  double clock_jump_seconds = 3600;
};

struct SimulatedOptions {
  std::uint64_t seed = 1;
  SimulatedNoise noise{};
  SimulatedFaults faults{};
  double block_overhead_seconds = 1e-3;  ///< to drop what is queued and start again
  double probe_share = 0;                ///< what inline probes add to a block's time
};

/// Supports every arm; of overrides those that with_overrides() knows. Deterministic by its seed.
/// Not thread safe.
class CACHEBISECT_INTERNAL_API SimulatedReplayer final : public Replayer {
 public:
  /// Throws Error(usage) for a chain that cannot run.
  explicit SimulatedReplayer(SimulatedChain chain, SimulatedOptions options = {});
  ~SimulatedReplayer() override;
  SimulatedReplayer(const SimulatedReplayer&) = delete;
  SimulatedReplayer& operator=(const SimulatedReplayer&) = delete;

  [[nodiscard]] ChainDescription describe() const override;
  [[nodiscard]] bool supports(const Arm& arm) const override;
  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override;
  std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token& stop) override;
  void begin_round() override;
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override;
  [[nodiscard]] double clock() const override { return clock_; }
  /// Of virtual time, in which no other program runs.
  [[nodiscard]] MachineReading read_machine() const override;

 private:
  struct QuietBlock {
    BlockResult result;
    double total_seconds = 0;  ///< warm-up and all
  };
  /// An arm, the samples that it serves, and where the first of them lies in the period of the
  /// costs: what a run does is known by these.
  using Key = std::tuple<Arm, std::uint64_t, std::uint64_t>;

  [[nodiscard]] CacheFacts fill(std::uint64_t samples);
  [[nodiscard]] const SimulatedRing& ring_of(const Arm& arm);
  [[nodiscard]] RingRequest ring_request(const BlockRequest& request) const;
  [[nodiscard]] QuietBlock quiet(const BlockRequest& request);
  /// A run of the arm that is at least so long as the request.
  const RingRun& remembered(const BlockRequest& request);
  void misbehave(const std::stop_token& stop);

  SimulatedRing ring_;
  SimulatedOptions options_;
  NoiseModel noise_;
  double clock_ = 0;
  int blocks_ = 0;
  std::uint64_t live_position_ = 0;
  std::uint64_t cache_position_ = 0;
  std::uint64_t cache_samples_ = 0;
  std::uint64_t first_cached_ = 0;
  CacheBudget budget_;
  /// With overrides in force, by what they are.
  std::map<std::map<std::string, std::string>, SimulatedRing> changed_;
  std::map<Key, RingRun> memory_;
};

}  // namespace cachebisect
