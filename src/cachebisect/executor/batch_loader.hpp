// Loads batches into the slots of a ring: the work of every worker, or of the training thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/load_program.hpp"
#include "cachebisect/executor/pause_debt.hpp"
#include "cachebisect/executor/sample_loader.hpp"
#include "cachebisect/executor/skip_counter.hpp"
#include "cachebisect/executor/slot_ring.hpp"

namespace cachebisect {

/// Workers claim grains of samples, or whole batches in turn (LoaderKind::batch); the one that
/// completes a batch collates and publishes it. Batches count from 0 since begin_run().
class CACHEBISECT_INTERNAL_API BatchLoader {
 public:
  /// Keeps references to the pipeline and the device. Throws Error(usage) for options out of range.
  BatchLoader(const Pipeline& pipeline, Device& device, const ExecutorOptions& options);

  /// Empties the ring and gets ready for this request. No worker may run.
  void begin_run(const LoadRequest& request);
  /// After pause(), goes on where the workers were: what is loaded stays, and whatever is not comes
  /// from `request`, which begins with the first batch that is not complete. `next`: the batch that
  /// the training thread takes next. No worker may run.
  void go_on(const LoadRequest& request, std::uint64_t next);
  /// Worker `number` loads until stop() or pause(). Throws what the stages throw.
  void load_until_stopped(std::size_t number);
  /// The training thread loads batch `sequence` itself. Throws Error(interrupted) after stop().
  void load_batch(std::uint64_t sequence);
  /// Lets every thread that waits or loads return. Any thread may call it.
  void stop() noexcept;
  /// The same, but workers return at the next sample, from which go_on() lets them go on. The time
  /// that they take until then, and the queue for shared resources that empties meanwhile, delays
  /// them when they do.
  void pause() noexcept;
  /// Complete batches since begin_run() or go_on(), of which `next` is the first that was not
  /// taken. While no worker runs.
  [[nodiscard]] std::uint64_t loaded_batches(std::uint64_t next) const noexcept {
    return (has_workers_ && !by_pointer() ? first_incomplete() : next) - first_batch_;
  }
  /// True once what a pause empties has been measured.
  [[nodiscard]] bool knows_pauses() const noexcept { return queueing_.known(); }

  /// Served without a copy.
  [[nodiscard]] bool by_pointer() const noexcept { return program_.by_pointer(); }
  [[nodiscard]] const HostBatch& cached_batch(std::uint64_t sequence) const noexcept {
    return program_.cached_batch(sequence - first_batch_);
  }
  [[nodiscard]] SlotRing& ring() noexcept { return ring_; }
  [[nodiscard]] const SlotRing& ring() const noexcept { return ring_; }
  /// All but the starved time, which is the training thread's.
  [[nodiscard]] LoadCounters counters() const;
  [[nodiscard]] std::size_t capacity() const noexcept;

 private:
  /// What a worker does, which it goes on with after a pause. One cache line each.
  struct alignas(64) Claim {
    bool held = false;
    std::uint64_t ticket = 0;  ///< the grain, counted over all batches
    std::int64_t loaded = 0;   ///< samples of it
    std::uint64_t next = 0;    ///< LoaderKind::batch: its next batch
    WorkerTurn turn{};
  };

  [[nodiscard]] bool by_batch() const noexcept {
    return program_.origin() == LoadProgram::Origin::cached_batches;
  }
  /// Grains of a batch that workers claim.
  [[nodiscard]] std::uint64_t per_batch() const noexcept {
    return static_cast<std::uint64_t>(by_batch() ? 1 : grains_);
  }
  /// The first batch that is not completely loaded.
  [[nodiscard]] std::uint64_t first_incomplete() const noexcept;
  /// Charges the workers for the pause.
  void charge();
  /// Loads until stop() or pause(). True if the worker was at work then, and not waiting.
  bool load(SampleLoader& loader, Claim& claimed);
  /// Pays what the worker owes. False if stop() or pause() comes first.
  bool settle(SampleLoader& loader, Claim& claimed);
  /// Sleeps for `debt` seconds, of which it leaves what is not paid when stop() or pause() comes.
  bool pay(double& debt);
  /// Takes the next grain, unless the worker has one.
  void claim(Claim& claim) noexcept;
  /// Samples of the grain that are not loaded yet; 0 or less: none.
  [[nodiscard]] std::int64_t left_of(const Claim& claim) const noexcept;
  /// Goes on with a grain. False if the loader stops or pauses in its middle.
  bool load_grain(SampleLoader& loader, BatchSlot& slot, Claim& claim) const;
  /// The samples of the grain are loaded. Completes the batch if it was the last one.
  void finish_grain(SampleLoader& loader, BatchSlot& slot, Claim& claim);
  /// Collates and publishes a batch whose samples are loaded.
  void complete(SampleLoader& loader, BatchSlot& slot, std::uint64_t batch);
  /// Counts a sample that is loaded.
  static void count_sample(Claim& claim) noexcept;
  [[nodiscard]] BatchRange range(std::uint64_t batch) const noexcept {
    return program_.range(batch - first_batch_);
  }

  const Pipeline& pipeline_;
  Device& device_;
  const LoaderKind kind_;
  const bool has_workers_;
  const std::int64_t grain_;
  const std::int64_t grains_;  // per batch
  const Sampler sampler_;
  const std::shared_ptr<const GroupedOrder> grouped_;  // null: not grouped
  const std::vector<RowLayout> layouts_;
  SlotRing ring_;
  SkipCounter skipped_;
  std::vector<std::unique_ptr<SampleLoader>> loaders_;  // one per worker, at least one
  LoadProgram program_;
  std::uint64_t first_batch_ = 0;  ///< with which the program begins
  std::vector<Claim> claims_;      ///< one per worker, at least one
  QueueDebt queueing_;

  alignas(64) std::atomic<std::uint64_t> claim_{0};  // of LoaderKind::sample
  alignas(64) std::atomic<bool> stopping_{false};
  std::atomic<double> paused_at_{0};  ///< on the monotonic clock; 0: it does not pause
};

}  // namespace cachebisect
