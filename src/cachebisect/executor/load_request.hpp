// What an executor is to load: live samples, samples again from a list, or a boundary's cache.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "cachebisect/data/batch.hpp"
#include "cachebisect/data/sample.hpp"

namespace cachebisect {

class LoadRecorder;

/// Cached output of one host boundary: K samples (before collate) or K / batch_size batches (after
/// it). Owned by the BoundaryCache; the executor only reads.
struct HostCacheView {
  std::span<const Sample> samples;
  std::span<const HostBatch> batches;
};

/// What the workers load until halt().
struct LoadRequest {
  std::size_t boundary = 0;  ///< 0: live. k: stage k's output is served from `cache`, k+1.. run
  HostCacheView cache;       ///< for boundary > 0
  /// In samples. Live: into the endless sequence of epochs (without drop_last, moved back to the
  /// start of its batch). Replay and `indices`: into the cache or list, modulo its size.
  std::uint64_t first_position = 0;
  /// Workers stop after so many batches.
  std::uint64_t batches = std::numeric_limits<std::uint64_t>::max();
  /// Live, without `indices`: the place in the sampler's order where every epoch begins. Less than
  /// the number of samples.
  std::uint64_t order_shift = 0;
  /// Epoch in the random keys of samples from a cache or from `indices`.
  std::uint64_t epoch = 0;
  /// Replaces the sampler's order: these samples, in this order, repeated (warm reading, filling a
  /// cache).
  std::span<const SampleIndex> indices;
  /// Stage (1-based) whose own work is skipped: its output comes from `bypass_cache`; the stages
  /// before it run, and their output is dropped. 0: none.
  std::size_t bypass_stage = 0;
  HostCacheView bypass_cache;
  /// Live only, a sample stage (1-based): those after it do not run, and batches hold nothing, so
  /// that only `on_sample` sees what is loaded. 0: all stages run.
  std::size_t last_stage = 0;
  /// Called by the worker with each sample stage's output (1-based stage, position), to fill
  /// caches. May be empty.
  std::function<void(std::size_t stage, std::uint64_t position, const Sample&)> on_sample;
  /// The same for collate and batch stages, with the batch's sequence number.
  std::function<void(std::size_t stage, std::uint64_t sequence, const HostBatch&)> on_batch;
  bool observe = true;               ///< false: no inline probes at all
  LoadRecorder* recorder = nullptr;  ///< of as many workers; may be null
};

}  // namespace cachebisect
