// The caches that replay reads from: the same K samples at every boundary of a chain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// One pass of K distinct samples through the live chain fills every boundary. Items are dense and
/// own their bytes: samples in an arena, host batches in the same kind of memory as batch slots,
/// device batches on the device (fields that a device stage passes on are shared with the boundary
/// before it). On the emulated device they have shapes and no bytes. One thread at a time.
class CACHEBISECT_INTERNAL_API BoundaryCache {
 public:
  /// Takes its samples from `order`. Keeps references to pipeline and device, which must outlive
  /// it.
  BoundaryCache(const Pipeline& pipeline, Device& device, const CopyOptions& copy,
                const LiveOrder& order);
  ~BoundaryCache();
  BoundaryCache(const BoundaryCache&) = delete;
  BoundaryCache& operator=(const BoundaryCache&) = delete;

  /// Chooses K (choose_cache_size) and fills the caches through `loader`, which must be halted and
  /// is halted afterwards. Throws Error(usage) if the budgets do not hold one batch, what the
  /// pipeline throws, and Error(interrupted) on `stop`.
  CacheFacts fill(Executor& loader, const CacheBudget& budget, const std::stop_token& stop);

  /// Fills the caches with the next `samples` samples of the order, in whole batches (0: as many
  /// as before). Returns empty, with the caches unchanged, if the data set has no others or the
  /// budgets do not hold them. If the budgets do not hold old and new samples together, the old
  /// ones are freed first, and loaded again if the new ones fail. Throws as fill().
  std::optional<CacheFacts> refill(Executor& loader, std::uint64_t samples,
                                   const std::stop_token& stop);

  /// Replaces the cached samples by about `samples` of those that follow, as far as data set and
  /// budgets allow, with new random draws. Uses the same memory again, so that nothing is cached
  /// after an error. Throws as fill().
  void freshen(Executor& loader, std::uint64_t samples, const std::stop_token& stop);

  [[nodiscard]] bool filled() const noexcept;
  /// In the keys of the random draws of the cached samples.
  [[nodiscard]] std::uint64_t epoch() const noexcept;
  /// K; whole batches.
  [[nodiscard]] std::uint64_t samples() const noexcept;
  /// The K samples, in the order of the caches.
  [[nodiscard]] std::span<const SampleIndex> indices() const noexcept;
  /// A view of the cache of a boundary held on the host.
  [[nodiscard]] HostCacheView host(std::size_t boundary) const;
  /// The cached batches of a boundary held on the device.
  [[nodiscard]] std::span<const DeviceBatch> device(std::size_t boundary) const;
  void remember(std::size_t boundary);
  /// True if the cache of `boundary` is unchanged since it was remembered; fill() and refill()
  /// remember all boundaries, freshen() none. The emulated device, which has no bytes, counts as
  /// unchanged, and so does what was not remembered.
  [[nodiscard]] bool intact(std::size_t boundary) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cachebisect
