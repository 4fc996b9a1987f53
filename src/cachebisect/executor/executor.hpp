// The executor: fused workers that carry samples through the host stages into a ring of batch
// slots.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/stage_counters.hpp"

namespace cachebisect {

/// Cached output of one host boundary: K samples (before collate) or K / batch_size batches (after
/// it). Owned by the BoundaryCache; the executor only reads.
struct HostCacheView {
  std::span<const Sample> samples;
  std::span<const HostBatch> batches;
};

/// What the workers are to load until halt().
struct LoadPlan {
  std::size_t boundary = 0;  ///< 0: live. k: stage k's output is served from `cache`, k+1.. run
  HostCacheView cache;       ///< for boundary > 0
  /// In samples. Live: into the endless sequence of epochs, position p lying in epoch p /
  /// epoch_length() (without drop_last it is moved back to the start of its batch). Replay and
  /// `indices`: into the cache or list, modulo its size.
  std::uint64_t first_position = 0;
  /// Epoch in the random keys of samples from a cache or from `indices`.
  std::uint64_t epoch = 0;
  /// Instead of the sampler's order: these samples, in this order, again and again (warm reading,
  /// filling a cache).
  std::span<const SampleIndex> indices;
  /// Stage (1-based) whose own work is skipped: its output comes from `bypass_cache` while the
  /// stages before run and are dropped. 0: none.
  std::size_t bypass_stage = 0;
  HostCacheView bypass_cache;
  /// Called by the worker with each stage's output (1-based stage, position), to fill caches. May
  /// be empty.
  std::function<void(std::size_t stage, std::uint64_t position, const Sample&)> on_sample;
  /// The same for collate and batch stages, whose batches are called by their sequence number.
  std::function<void(std::size_t stage, std::uint64_t sequence, const HostBatch&)> on_batch;
  bool observe = true;  ///< false: no inline probes at all
};

/// A batch that is ready, in the ring (or in the cache, handed over by pointer).
struct ReadyBatch {
  const HostBatch* batch = nullptr;
  std::uint64_t sequence = 0;  ///< 0, 1, 2, ... since start()
  int slot = -1;               ///< -1: not in the ring
};

/// Sums since start(), over all workers; sampled probes are scaled up to all samples.
struct LoadCounters {
  std::vector<StageCounters> stages;       ///< one a stage of the chain
  double starved_seconds = 0;              ///< time that next() waited (or loaded, without workers)
  double blocked_seconds = 0;              ///< time that workers waited for a free slot
  double observing_seconds = 0;            ///< what inline probes are reckoned to have taken
  std::uint64_t skipped = 0;               ///< damaged samples replaced
  std::vector<std::string> first_skipped;  ///< at most 8, "path: what"
};

struct ExecutorOptions {
  int workers = 0;  ///< 0: next() loads inline
  int prefetch = 2;
  bool pinned = false;
  std::optional<int> grain;  ///< samples a claim; none: min(32, max(1, batch / (2 workers)))
  double observation_budget = 0.002;  ///< share of the work that inline probes may cost
};

/// One training thread calls start/next/release/halt; workers are the executor's own threads, made
/// once and parked between runs. Slots = workers + prefetch + 1, allocated once. No allocation,
/// lock or page fault on the sample path in the steady state. Several executors may run in one
/// process. Stages run with denormal numbers flushed to zero. With `skip_damaged`, more than 5%
/// replaced of what this executor has loaded (of 200 samples at least), or 8 damaged replacements
/// in a row, is Error(data).
class CACHEBISECT_API Executor {
 public:
  /// Keeps references to both, which must outlive it.
  Executor(const Pipeline& pipeline, Device& device, const ExecutorOptions& options);
  /// Stops and joins every thread.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Empties the ring and lets the workers begin. Must be halted. `plan`'s spans must live until
  /// halt().
  void start(const LoadPlan& plan);
  /// The next batch in order; waits without burning CPU. Rethrows the first worker's error with
  /// stage name, sample index and path. Throws Error(interrupted) when `stop` is requested. After a
  /// throw only halt() may follow.
  ReadyBatch next(const std::stop_token& stop);
  /// The next batch when it is ready now; a null batch otherwise (always null without workers,
  /// where nothing is loaded ahead).
  ReadyBatch try_next();
  /// Gives the slot back; the worker that fills it next waits for `free_after` first (may be null).
  /// The event must live until the slot has been refilled or halt() returned.
  void release(const ReadyBatch& batch, const Event* free_after);
  /// The training thread slept for so long on the device's account. Without workers, what it is
  /// late by then is not made up for in planted costs.
  void rested(double seconds);
  /// Drops what is queued and parks the workers. A no-op when halted already.
  void halt();

  [[nodiscard]] LoadCounters counters() const;
  /// Batches that next() would give without waiting; none where nothing is loaded ahead (no
  /// workers, or batches handed over by pointer).
  [[nodiscard]] std::optional<int> ready() const noexcept;
  [[nodiscard]] int workers() const noexcept;
  [[nodiscard]] int slots() const noexcept;
  /// Samples in an epoch: all of them, or whole batches of them with drop_last.
  [[nodiscard]] std::uint64_t epoch_length() const noexcept;
  /// Bytes held by slots, arenas and samples' buffers; constant in the steady state. Halted only.
  [[nodiscard]] std::size_t bytes_held() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cachebisect
