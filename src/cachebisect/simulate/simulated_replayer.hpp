// A Replayer in virtual time: planted costs, planted noise, thousands of runs in seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/simulate/kept_run.hpp"
#include "cachebisect/simulate/simulated_noise.hpp"
#include "cachebisect/simulate/simulated_quota.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

namespace cachebisect {

/// Planted faults. Blocks count from 0, in the order in which they run.
struct SimulatedFaults {
  std::optional<int> fail_at_block{};        ///< throws Error(data) naming `fail_stage`
  int fail_stage = 1;                        ///< 1-based
  std::optional<int> hang_at_block{};        ///< runs until a stop is requested, then throws
  int void_every = 0;                        ///< every n-th block was suspended: is_void; 0: never
  std::optional<int> clock_jump_at_block{};  ///< the clock jumps before it
  double clock_jump_seconds = 3600;
};

struct SimulatedOptions {
  std::uint64_t seed = 1;
  SimulatedNoise noise{};
  SimulatedFaults faults{};
  SimulatedQuota quota{};
  double block_overhead_seconds = 1e-3;  ///< between blocks, to empty and restart the ring
  bool keeps_queues = true;              ///< as ChainDescription's, for chains with workers
  bool has_unseen = true;                ///< supports the unseen arm
  double probe_share = 0;  ///< added to the time of an observed block by inline probes
};

/// Supports every arm, and the overrides that with_overrides() knows. Equal seeds give equal
/// results. Not thread safe.
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
  /// Only where samples differ for good: others of a periodic chain would cost the same.
  bool freshen(std::uint64_t samples, const std::stop_token& stop) override;
  void begin_round() override;
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override;
  [[nodiscard]] double clock() const override { return clock_; }
  /// The reading of a machine on which no other program runs.
  [[nodiscard]] MachineReading read_machine() const override;

 private:
  struct StepCost {
    double seconds = 0;
    double cpu_seconds = 0;
  };
  struct QuietBlock {
    BlockResult result;
    double warmup_seconds = 0;
    std::vector<StepCost> steps{};  ///< untimed ones included; empty if not needed
  };
  /// The seconds of a block's untimed and timed steps, and the run that they are part of.
  struct BlockSteps {
    int warmup = 0;
    double warmup_seconds = 0;
    double seconds = 0;
    double starved = 0;
    double trainer = 0;
    double cpu = 0;
    const RingRun* run = nullptr;
    std::vector<StepCost> each{};  ///< empty if not needed
  };
  /// What determines a run: its arm, the number of samples that it cycles through, and the phase of
  /// the first one in the jitter's period.
  using Key = std::tuple<Arm, std::uint64_t, std::uint64_t>;

  [[nodiscard]] CacheFacts fill(std::uint64_t samples);
  [[nodiscard]] const SimulatedRing& ring_of(const Arm& arm);
  [[nodiscard]] RingRequest ring_request(const BlockRequest& request) const;
  [[nodiscard]] QuietBlock quiet(const BlockRequest& request);
  [[nodiscard]] bool keeps(const Arm& arm);
  /// The block goes on where the last one of its arm ended.
  [[nodiscard]] BlockSteps kept_steps(const BlockRequest& request);
  /// The block begins with an empty ring.
  [[nodiscard]] BlockSteps fresh_steps(const BlockRequest& request);
  /// A run of the arm, at least as long as the request; until the next call.
  const RingRun& cached_run(const BlockRequest& request);
  void inject_faults(const std::stop_token& stop);
  /// Adds what the block before it makes it longer.
  void add_carried(QuietBlock& block, int boundary);
  /// What inline probes add to the time of a block.
  [[nodiscard]] double probe_factor(const Arm& arm) const noexcept;
  /// The times of single steps: for a quota, or for groups.
  [[nodiscard]] bool needs_each_step(const BlockRequest& request) const noexcept;
  /// Each group of a run in one piece meets noise of its own.
  void add_noise_by_group(QuietBlock& block, const BlockRequest& request, int boundary);
  /// Times the groups, and ends the run as BlockRequest::max_seconds says.
  static void time_groups(QuietBlock& block, const BlockRequest& request);
  /// Lets the block take the time that it needs within the quota.
  void apply_quota(QuietBlock& block, const BlockRequest& request);

  SimulatedRing ring_;
  SimulatedOptions options_;
  NoiseModel noise_;
  QuotaClock quota_;
  double clock_ = 0;
  int blocks_ = 0;
  std::uint64_t live_position_ = 0;
  std::uint64_t cache_position_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t cache_samples_ = 0;
  std::uint64_t first_cached_ = 0;
  CacheBudget budget_;
  /// By the overrides applied to them.
  std::map<std::map<std::string, std::string>, SimulatedRing> changed_rings_;
  std::map<Key, RingRun> runs_;
  std::map<Arm, KeptRun> kept_;
};

}  // namespace cachebisect
