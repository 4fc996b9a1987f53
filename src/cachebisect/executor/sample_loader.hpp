// Carries samples through all live stages into a slot: one worker's buffers, scratch and tallies.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "cachebisect/executor/batch_slot.hpp"
#include "cachebisect/executor/load_probe.hpp"
#include "cachebisect/executor/load_program.hpp"
#include "cachebisect/executor/skip_ledger.hpp"

namespace cachebisect {

struct LoaderTraits {
  bool absorbs = false;  ///< see PaceTimeline::begin()
  ProbeClocks clocks{};
  double observation_budget = 0;  ///< see ExecutorOptions
  std::uint64_t number = 0;       ///< of the worker: each chooses other samples to observe
};

/// Used by one thread at a time; tallies may be read by others meanwhile.
class SampleLoader {
 public:
  /// Keeps references to all but the traits.
  SampleLoader(const Pipeline& pipeline, const std::vector<RowLayout>& layouts, SkipLedger& ledger,
               const LoaderTraits& traits);

  /// Clears tallies and gets ready for this program, which must outlive the run.
  void begin_run(const LoadProgram& program);
  /// Loads the sample at `position` (`at` is its cursor) into the row. Throws Error with stage,
  /// sample and path.
  void load(BatchSlot& slot, std::int64_t row, const LoadCursor& at, std::uint64_t position);
  /// Counts samples that load() has done.
  void count(std::int64_t samples) noexcept;
  /// Collate and batch stages; sets slot.ready.
  void finish(BatchSlot& slot, std::uint64_t sequence, std::int64_t size);

  /// The worker waited for a slot.
  void add_blocked(double seconds) noexcept {
    blocked_.add(seconds);
    pace_.rested(seconds);
  }
  /// The thread was blocked for so long by something else than a slot.
  void rested(double seconds) noexcept { pace_.rested(seconds); }
  /// Adds what this worker saw.
  void add_to(LoadCounters& counters) const;
  [[nodiscard]] std::size_t capacity() const noexcept;

 private:
  void run(BatchSlot& slot, std::int64_t row, std::uint64_t epoch, SampleIndex index,
           const Sample* input, std::uint64_t position);
  void run_step(const LoadStep& step, const Sample* input, Sample& out, std::uint64_t epoch,
                SampleIndex index);
  void note_serial(std::size_t position) noexcept {
    if (serial_ == 0) return;
    tallies_[position].serial.add(serial_);
    serial_ = 0;
  }
  Sample& target(const LoadStep& step, BatchSlot& slot, std::int64_t row);
  void store(BatchSlot& slot, std::int64_t row, const Sample& sample, bool in_place);
  void write_row(const RowLayout& layout, std::byte* to, const Sample& sample);
  void end_lap(std::size_t position, std::int64_t samples) noexcept;
  const HostBatch* run_batch_step(const LoadStep& step, const HostBatch& input, BatchSlot& slot,
                                  const RandomKey& key);
  [[nodiscard]] Error explain(const std::exception_ptr& failure) const;
  [[nodiscard]] SampleIndex replace(const Error& error, const LoadCursor& at, unsigned attempt);

  const Pipeline* pipeline_;
  const std::vector<RowLayout>* layouts_;
  SkipLedger* ledger_;
  const LoadProgram* program_ = nullptr;
  bool dynamic_;
  bool absorbs_;

  Arena arena_;
  WorkerPace pace_;
  double serial_ = 0;            // seconds that the stage now running reports
  std::vector<Sample> outputs_;  // one a sample stage of the chain
  std::size_t final_ = 0;        // step that writes into the row; none: number of steps

  // For messages and for the probe of a sample that fails on its way.
  const ChainStage* current_ = nullptr;
  SampleIndex current_index_;
  std::string_view current_origin_;
  bool observed_ = false;

  SampleProbe probe_;
  BatchProbe batch_probe_;
  std::vector<StageTally> tallies_;
  StageTally slot_write_;
  StageTally ignored_;
  Gauge<double> blocked_;
};

}  // namespace cachebisect
