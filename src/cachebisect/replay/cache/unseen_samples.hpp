// Samples at one boundary that the stages after it have never had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/cache/host_arena.hpp"

namespace cachebisect {

/// The caches hold samples that all stages have had when the caches were filled. These come through
/// the stages up to a boundary alone. One thread at a time.
class CACHEBISECT_INTERNAL_API UnseenSamples {
 public:
  /// Takes its samples from `order`. Keeps a reference to `pipeline`.
  UnseenSamples(const Pipeline& pipeline, LiveOrder order)
      : pipeline_(&pipeline), order_(std::move(order)) {}

  /// Batches that may still be loaded at a boundary whose items take `item_bytes` per sample: what
  /// this epoch has left, and a share of the free memory holds.
  [[nodiscard]] std::uint64_t batches_left(double item_bytes) const;
  /// Loads `batches` new ones through `loader`, which must be halted and is halted afterwards. The
  /// view is valid until the next call. Throws what the pipeline throws and Error(interrupted).
  [[nodiscard]] HostCacheView load(Executor& loader, std::size_t boundary, std::uint64_t batches,
                                   const std::stop_token& stop);

 private:
  const Pipeline* pipeline_;
  LiveOrder order_;  ///< shares its position with all that reads the data set
  HostArena arena_;
  std::vector<Sample> samples_;
};

}  // namespace cachebisect
