// Takes samples through all live stages into a slot, with one worker's buffers, scratch and times.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/executor/batch_slot.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/load_probe.hpp"
#include "cachebisect/executor/load_program.hpp"
#include "cachebisect/executor/load_recorder.hpp"
#include "cachebisect/executor/row_writer.hpp"
#include "cachebisect/executor/sample_ahead.hpp"
#include "cachebisect/executor/skip_counter.hpp"

namespace cachebisect {

struct LoaderTraits {
  ProbeClocks clocks{};
  double observation_budget = 0;  ///< see ExecutorOptions
  std::size_t slots = 1;          ///< of the ring
  std::uint64_t number = 0;       ///< of the worker: each observes other samples
};

/// Used by one thread at a time; other threads may read the times.
class SampleLoader {
 public:
  /// Keeps references to all but the traits.
  SampleLoader(const Pipeline& pipeline, const std::vector<RowLayout>& layouts,
               SkipCounter& skipped, const LoaderTraits& traits);

  /// Clears times and prepares for this program, which must outlive the run.
  void begin_run(const LoadProgram& program);
  /// Loads the sample at `position` (`at` is its cursor) into the row. Throws Error with stage,
  /// sample and path.
  void load(BatchSlot& slot, std::int64_t row, const LoadCursor& at, std::uint64_t position);
  /// Counts samples that load() has completed.
  void count(std::int64_t samples) noexcept;
  /// Collate and batch stages; sets slot.ready.
  void finish(BatchSlot& slot, std::uint64_t sequence, std::int64_t size);
  /// The record of this run; null if nothing is recorded.
  [[nodiscard]] WorkerRecord* record() const noexcept { return record_; }
  /// Adds what this worker measured.
  void add_to(LoadCounters& counters) const;
  [[nodiscard]] std::size_t capacity() const noexcept;

 private:
  void run(BatchSlot& slot, std::int64_t row, std::uint64_t epoch, SampleIndex index,
           const Sample* input, std::uint64_t position);
  /// Looks for the sample in the caches of the chain. The step after the one that had it, with its
  /// output in `input`; 0 and `input` as it was if none has it.
  std::size_t first_step(BatchSlot& slot, std::int64_t row, SampleIndex index, const Sample*& input,
                         std::uint64_t position);
  void run_step(const LoadStep& step, const Sample* input, Sample& out, std::uint64_t epoch,
                SampleIndex index);
  void note_serial(std::size_t position) noexcept {
    if (serial_ == 0) return;
    times_[position].serial.add(serial_);
    serial_ = 0;
  }
  void end_lap(std::size_t position, std::int64_t samples, std::uint64_t sequence) noexcept;
  const HostBatch* run_batch_step(const LoadStep& step, const HostBatch& input, BatchSlot& slot,
                                  const RandomKey& key, std::uint64_t sequence);
  /// The exception that is being handled, with stage, sample and path.
  [[nodiscard]] Error explained() const;
  /// Dynamic shapes: throws Error(usage) if batches of samples like this one do not fit.
  void check_memory(BatchSlot& slot, std::int64_t row);
  [[nodiscard]] SampleIndex replace(const Error& error, const LoadCursor& at, unsigned attempt);

  const Pipeline* pipeline_;
  RowWriter rows_;
  SkipCounter* skipped_;
  const LoadProgram* program_ = nullptr;
  SampleAhead samples_;
  std::size_t slots_;
  std::size_t number_;  // of the worker
  bool sized_;          // whether the memory of the slots is known to fit

  Arena arena_;
  double serial_ = 0;            // seconds that the running stage reports
  std::vector<Sample> outputs_;  // one per sample stage of the chain
  std::size_t final_ = 0;        // the step that writes into the row; number of steps: none

  // For messages, and for the probe if a sample fails.
  const ChainStage* current_ = nullptr;
  SampleIndex current_index_;
  SampleOrigin current_origin_;
  bool observed_ = false;
  bool recorded_ = false;  // the present sample or batch

  WorkerRecord* record_ = nullptr;
  SampleProbe probe_;
  BatchProbe batch_probe_;
  std::vector<StageTimes> times_;
  StageTimes slot_write_;
  StageTimes ignored_;  // of bypassed stages
};

}  // namespace cachebisect
