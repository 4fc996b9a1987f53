// Loads batches into the slots of a ring: the work of every worker, or of the training thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/load_program.hpp"
#include "cachebisect/executor/sample_loader.hpp"
#include "cachebisect/executor/skip_counter.hpp"
#include "cachebisect/executor/slot_ring.hpp"

namespace cachebisect {

/// Workers claim grains of samples, or whole batches in turn (LoaderKind::batch); the one that
/// completes a batch collates and publishes it.
class BatchLoader {
 public:
  /// Keeps references to the pipeline and the device. Throws Error(usage) for options out of range.
  BatchLoader(const Pipeline& pipeline, Device& device, const ExecutorOptions& options);

  /// Empties the ring and gets ready for this request. No worker may run.
  void begin_run(const LoadRequest& request);
  /// Worker `number` loads until stop(). Throws what the stages throw.
  void load_until_stopped(std::size_t number);
  /// The training thread loads batch `sequence` itself. Throws Error(interrupted) after stop().
  void load_batch(std::uint64_t sequence);
  /// Lets every thread that waits or loads return. Any thread may call it.
  void stop() noexcept;

  [[nodiscard]] const LoadProgram& program() const noexcept { return program_; }
  [[nodiscard]] SlotRing& ring() noexcept { return ring_; }
  [[nodiscard]] const SlotRing& ring() const noexcept { return ring_; }
  /// The training thread, loading itself, slept for `seconds`.
  void rested(double seconds) noexcept { loaders_.front()->rested(seconds); }
  /// All but the starved time, which is the training thread's.
  [[nodiscard]] LoadCounters counters() const;
  [[nodiscard]] std::size_t capacity() const noexcept;

 private:
  [[nodiscard]] bool by_batch() const noexcept {
    return program_.origin() == LoadProgram::Origin::cached_batches;
  }
  /// The next grain of a worker, counted over all batches. `own`: its next one if it loads whole
  /// batches.
  std::uint64_t claim(std::uint64_t& own) noexcept;
  void load_grain(SampleLoader& loader, BatchSlot& slot, std::uint64_t batch,
                  std::int64_t number) const;

  const Pipeline& pipeline_;
  Device& device_;
  const LoaderKind kind_;
  const std::int64_t grain_;
  const std::int64_t grains_;  // per batch
  const Sampler sampler_;
  const std::vector<RowLayout> layouts_;
  SlotRing ring_;
  SkipCounter skipped_;
  std::vector<std::unique_ptr<SampleLoader>> loaders_;  // one per worker, at least one
  LoadProgram program_;

  alignas(64) std::atomic<std::uint64_t> claim_{0};  // of LoaderKind::sample
  alignas(64) std::atomic<bool> stopping_{false};
};

}  // namespace cachebisect
