// Which samples a live block reads, and whether their files are in memory when it begins.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/replay/cache/boundary_cache.hpp"
#include "cachebisect/replay/reading/io_mode.hpp"
#include "cachebisect/replay/reading/residency.hpp"

namespace cachebisect {

/// Chooses the samples of each live block. Batches are whole, as cached ones are: one that the end
/// of an epoch would cut short is filled from the next epoch. Errors of the source name its stage.
/// Not thread safe.
class LiveReading {
 public:
  struct Block {
    LoadRequest request;  ///< valid until the next begin()
    /// Share of the pages of the samples that the block will read that are in memory. Cold: after
    /// their eviction. As is: of at most 512 samples evenly spaced over the block (of one in 16, if
    /// the check brings metadata into memory), and only as often as the check takes less than 2% of
    /// the time. Warm: of the cached samples.
    std::optional<double> resident_share;
  };

  /// Keeps a reference to `cache`.
  LiveReading(IoMode io, const BoundaryCache& cache) : io_(io), cache_(&cache) {}

  [[nodiscard]] IoMode io() const noexcept { return io_; }
  /// The caches have been filled anew.
  void caches_filled(const Pipeline& pipeline);
  /// Begins a block of at most `batches` batches. Warm: from batch `first_batch` of the caches on.
  Block begin(const Pipeline& pipeline, LiveOrder& order, std::uint64_t batches,
              std::uint64_t first_batch);

 private:
  /// Sets `block` to read the listed samples from `position` on, whatever the end of an epoch cuts.
  void read_listed(const LiveOrder& order, std::uint64_t position, std::uint64_t batches,
                   Block& block);
  std::optional<double> check_residency(const Pipeline& pipeline, const LiveOrder& order,
                                        std::uint64_t position, std::uint64_t batches);

  IoMode io_;
  const BoundaryCache* cache_;
  Residency residency_;
  std::optional<double> cached_share_;
  std::vector<SampleIndex> chosen_;
  double next_check_ = 0;  ///< on the monotonic clock
};

}  // namespace cachebisect
