// A block that was run, and what it may be used for.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/arm.hpp"
#include "cachebisect/protocol/block.hpp"

namespace cachebisect {

/// What a block was run for. caches: they were filled, no block ran. sustain: the runs in one
/// piece. check_cache: whether the caches are large enough.
enum class BlockPhase { caches, pilot, measure, sustain, explain, check_cache, verify };
inline constexpr std::array kBlockPhases{
    BlockPhase::caches,  BlockPhase::pilot,       BlockPhase::measure, BlockPhase::sustain,
    BlockPhase::explain, BlockPhase::check_cache, BlockPhase::verify};
CACHEBISECT_API const char* to_string(BlockPhase phase) noexcept;

/// Which blocks count as evidence is decided here and nowhere else.
struct CACHEBISECT_API BlockRecord {
  BlockPhase phase = BlockPhase::pilot;
  int round = 0;        ///< -1: pilot
  int super_round = 0;  ///< number of its first round: all its blocks ran in one random order
  Arm arm;
  BlockResult result;
  bool repeated_for_throttling = false;  ///< of the device or CPUs, and void for that reason alone
  bool unfinished = false;  ///< its super-round ended early: it counts for means, not as evidence
  bool also_for_mean = false;  ///< a null block that is a second block of its boundary too

  /// True if it is neither a pilot nor void, and measured at least one sample.
  [[nodiscard]] bool is_evidence() const noexcept;
  /// True if it is evidence about replay at its boundary: served from the whole cache, with inline
  /// probes running.
  [[nodiscard]] bool shows_replay() const noexcept;
  /// The same for one boundary.
  [[nodiscard]] bool shows_replay_at(int boundary) const noexcept;
  /// True if it is evidence about the live pipeline.
  [[nodiscard]] bool shows_live() const noexcept { return shows_replay_at(0); }
  /// True if it is void because the process was suspended; others are void because the device or
  /// the CPUs throttled.
  [[nodiscard]] bool was_suspended() const noexcept {
    return result.is_void && !repeated_for_throttling;
  }
  /// True if it has per-stage counters.
  [[nodiscard]] bool has_counters() const noexcept { return !result.stages.empty(); }

  [[nodiscard]] double seconds_per_sample() const noexcept {
    return result.seconds / static_cast<double>(result.samples);
  }
};

/// What the training thread of live waited for batches: sums over its blocks.
struct LiveWaiting {
  double seconds = 0;          ///< that the blocks took
  double starved_seconds = 0;  ///< of these, waiting
  /// Empty without blocks.
  [[nodiscard]] std::optional<double> share() const noexcept;
};
[[nodiscard]] CACHEBISECT_API LiveWaiting waiting_of_live(const std::vector<BlockRecord>& records);

/// Batches in the ring when the training thread of live asked for one: the mean over all steps of
/// `records`; empty if no block tells.
[[nodiscard]] CACHEBISECT_API std::optional<double> ready_batches_of_live(
    const std::vector<BlockRecord>& records);

}  // namespace cachebisect
