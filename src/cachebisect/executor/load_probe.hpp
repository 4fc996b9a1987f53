// Inline observation of the sample path: sparse, weighted, within a fixed share of the work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cachebisect/base/probe_clocks.hpp"
#include "cachebisect/base/sparse_turns.hpp"
#include "cachebisect/executor/stage_times.hpp"

namespace cachebisect {

/// Times the stages of some samples, each sample by the wall clock or by the CPU clock: as many as
/// cost at most three quarters of `budget`, a share of the work. The cost of reading the clock is
/// subtracted. Used by one worker.
class CACHEBISECT_INTERNAL_API SampleProbe {
 public:
  SampleProbe(const ProbeClocks& clocks, double budget, std::uint64_t seed) noexcept;

  /// Forgets the time per sample. `laps`: per sample.
  void reset(std::size_t laps) noexcept;
  /// Before a sample. If true, call lap() after each stage and end() at the end.
  [[nodiscard]] bool begin() noexcept {
    if (cpu_turns_.next()) return start(true);
    if (wall_turns_.next()) return start(false);
    return false;
  }
  /// Adds the seconds since begin() or the last lap to `times`.
  void lap(StageTimes& times) noexcept;
  /// After the last lap of an observed sample: sets the distance to the next.
  void end() noexcept;
  /// Approximate time per sample; 0 until one was observed.
  [[nodiscard]] double sample_seconds() const noexcept { return mean_; }
  /// Estimated cost of the readings since reset(). Any thread may call it.
  [[nodiscard]] double observing_seconds() const noexcept { return spent_.get(); }

 private:
  bool start(bool cpu) noexcept;
  [[nodiscard]] double now() const noexcept { return cpu_ ? clocks_.cpu() : clocks_.wall(); }

  ProbeClocks clocks_;
  double budget_;
  SparseTurns wall_turns_;
  SparseTurns cpu_turns_;
  double readings_ = 1;  ///< per observed sample
  double began_ = 0;
  double last_ = 0;
  double mean_ = 0;
  bool cpu_ = false;
  Gauge<double> spent_;
};

/// Times collate and batch stages of some batches by both clocks, in the same way, for the last
/// quarter of `budget`.
class CACHEBISECT_INTERNAL_API BatchProbe {
 public:
  BatchProbe(const ProbeClocks& clocks, double budget, std::uint64_t seed) noexcept;

  /// Forgets the time per batch. `laps`: per batch.
  void reset(std::size_t laps) noexcept;
  /// Before a batch is finished. If true, call start_lap() and lap() around each step, then end().
  [[nodiscard]] bool begin() noexcept { return turns_.next(); }
  /// Before a step.
  void start_lap() noexcept;
  /// After it; `samples` in the batch.
  void lap(StageTimes& times, std::int64_t samples) noexcept;
  /// After the last lap; `loading_seconds`: the time that loading the batch's samples took.
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
