// The executor: fused workers that carry samples through the host stages into a ring of batch
// slots.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/load_request.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/stage_counters.hpp"

namespace cachebisect {

/// A batch that is ready, in the ring (or in the cache, handed over by pointer).
struct ReadyBatch {
  const HostBatch* batch = nullptr;
  std::uint64_t sequence = 0;  ///< 0, 1, 2, ... since start(), over all times it was suspended
  int slot = -1;               ///< -1: not in the ring
};

/// Sums since start() or resume(), over all workers; sampled probes are scaled up to all samples.
struct LoadCounters {
  std::vector<StageCounters> stages;       ///< one per stage of the chain
  double starved_seconds = 0;              ///< time that next() waited (or loaded, without workers)
  double observing_seconds = 0;            ///< estimated cost of the inline probes
  std::uint64_t skipped = 0;               ///< damaged samples replaced
  std::vector<std::string> first_skipped;  ///< at most 8, "path: what"
};

struct ExecutorOptions {
  int workers = 0;  ///< 0: next() loads inline
  int prefetch = 2;
  bool pinned = false;
  std::optional<int> grain;  ///< samples per claim; empty: min(32, max(1, batch / (2 workers)))
  double observation_budget = 0.002;       ///< share of the work that inline probes may cost
  LoaderKind loader = LoaderKind::sample;  ///< batch: a worker claims whole batches, and no grains
};

/// One training thread calls start/next/release/suspend/resume/halt; workers are the executor's own
/// threads, made once and parked between runs. Slots = workers + prefetch + 1, allocated once. No
/// allocation, lock or page fault on the sample path in the steady state. Several executors may run
/// in one process. Stages run with denormal numbers flushed to zero. With `skip_damaged`,
/// Error(data) is thrown if certainly more than 5% of all samples (loaded: at least 200) are
/// damaged, or if all 8 replacements of a sample are damaged too.
class CACHEBISECT_INTERNAL_API Executor {
 public:
  /// Keeps references to both, which must outlive it.
  Executor(const Pipeline& pipeline, Device& device, const ExecutorOptions& options);
  /// Stops and joins every thread.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Empties the ring and starts the workers. Must not run. The spans of `request` must live until
  /// suspend() or halt().
  void start(const LoadRequest& request);
  /// After suspend(), goes on where it was: batches that are loaded stay in the ring, and a sample
  /// that is not loaded comes from `request`, which must have the boundary and the kind of cache of
  /// the one before, and begins with the first batch that is not complete. The workers begin at
  /// go(). Otherwise as start().
  void resume(const LoadRequest& request);
  /// True once it is known by how much time workers that go on after suspend() are ahead, because
  /// their queue for shared resources has emptied: from the second resume() on, they owe it.
  [[nodiscard]] bool knows_pauses() const noexcept;
  /// Complete batches since start() or resume(), taken or not. While it is suspended.
  [[nodiscard]] std::uint64_t loaded_batches() const noexcept;
  /// Lets the workers load. Does nothing if they do already.
  void go();
  /// False from resume() to go().
  [[nodiscard]] bool is_loading() const noexcept;
  /// The next batch in order; waits without burning CPU. Rethrows the first worker's error with
  /// stage name, sample index and path. Throws Error(interrupted) when `stop` is requested. After a
  /// throw only halt() may follow. Does what go() does.
  ReadyBatch next(const std::stop_token& stop);
  /// The next batch if it is ready now, else a null batch. Always null without workers, because
  /// nothing is loaded ahead.
  ReadyBatch try_next();
  /// Gives the slot back; the worker that fills it next waits for `free_after` first (may be null).
  /// The event must live until the slot has been refilled or suspend() or halt() has returned.
  void release(const ReadyBatch& batch, const Event* free_after);
  /// The training thread slept for `seconds`, waiting for the device. Without workers, that delay
  /// is not made up for in planted costs.
  void rested(double seconds);
  /// Parks each worker after the sample that it loads; what is queued stays. A worker that was
  /// still loading begins as much later when it goes on, so that time that is not measured loads
  /// nothing. Does nothing if it does not run. After a worker's error the same as halt().
  void suspend();
  /// True from suspend() to start(), resume() or halt().
  [[nodiscard]] bool is_suspended() const noexcept;
  /// Drops what is queued and parks the workers. Does nothing if already halted.
  void halt();

  [[nodiscard]] LoadCounters counters() const;
  /// Batches that next() would give without waiting; empty if nothing is loaded ahead (no workers,
  /// or batches handed over by pointer).
  [[nodiscard]] std::optional<int> ready() const noexcept;
  [[nodiscard]] int workers() const noexcept;
  [[nodiscard]] int slots() const noexcept;
  /// Bytes held by slots, arenas and samples' buffers; constant in the steady state. Not while it
  /// runs.
  [[nodiscard]] std::size_t bytes_held() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cachebisect
