// Inline observation of the sample path: sparse, weighted, within a fixed share of the work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cachebisect/base/probe_clocks.hpp"
#include "cachebisect/base/sparse_turns.hpp"
#include "cachebisect/executor/stage_tally.hpp"

namespace cachebisect {

/// Takes the laps of some samples by one clock or the other: as many as cost no more than three
/// quarters of `budget`, a share of the work, whatever a reading costs and a sample takes. What a
/// reading costs is taken from the laps. One worker's own.
class CACHEBISECT_API SampleProbe {
 public:
  SampleProbe(const ProbeClocks& clocks, double budget, std::uint64_t seed) noexcept;

  /// Forgets what samples take; `laps` of one sample.
  void reset(std::size_t laps) noexcept;
  /// Before a sample. True when its laps are to be taken, and end() called.
  [[nodiscard]] bool begin() noexcept {
    if (cpu_turns_.next()) return start(true);
    if (wall_turns_.next()) return start(false);
    return false;
  }
  /// Seconds since begin() or the last lap go to `tally`.
  void lap(StageTally& tally) noexcept;
  /// After the last lap of an observed sample: sets the distance to the next.
  void end() noexcept;
  /// What a sample takes, roughly; 0 while none was observed.
  [[nodiscard]] double sample_seconds() const noexcept { return mean_; }
  /// What the readings since reset() are reckoned to have taken. Any thread may ask.
  [[nodiscard]] double observing_seconds() const noexcept { return spent_.get(); }

 private:
  bool start(bool cpu) noexcept;
  [[nodiscard]] double now() const noexcept { return cpu_ ? clocks_.cpu() : clocks_.wall(); }

  ProbeClocks clocks_;
  double budget_;
  SparseTurns wall_turns_;
  SparseTurns cpu_turns_;
  double readings_ = 1;  ///< of an observed sample
  double began_ = 0;
  double last_ = 0;
  double mean_ = 0;
  bool cpu_ = false;
  Gauge<double> spent_;
};

/// Takes the laps of collate and batch stages of some batches by both clocks, in the same way, for
/// the last quarter of `budget`.
class CACHEBISECT_API BatchProbe {
 public:
  BatchProbe(const ProbeClocks& clocks, double budget, std::uint64_t seed) noexcept;

  /// Forgets what batches take; `laps` of one batch.
  void reset(std::size_t laps) noexcept;
  /// Before a batch is finished. True when its laps are to be taken, and end() called.
  [[nodiscard]] bool begin() noexcept { return turns_.next(); }
  /// Before a step.
  void start_lap() noexcept;
  /// After it; `samples` in the batch.
  void lap(StageTally& tally, std::int64_t samples) noexcept;
  /// After the last lap; `loading_seconds`: what the batch's samples took before.
  void end(double loading_seconds) noexcept;
  /// As SampleProbe's.
  [[nodiscard]] double observing_seconds() const noexcept { return spent_.get(); }

 private:
  ProbeClocks clocks_;
  double budget_;
  SparseTurns turns_;
  double laps_ = 1;
  double wall_began_ = 0;
  double cpu_began_ = 0;
  double seconds_ = 0;  ///< of this batch's laps
  Gauge<double> spent_;
};

}  // namespace cachebisect
