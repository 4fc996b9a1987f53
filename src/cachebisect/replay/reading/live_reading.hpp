// Which samples a live block reads, and how they lie on disk when it begins.
#pragma once

#include <cstdint>
#include <vector>

#include "cachebisect/executor/executor.hpp"
#include "cachebisect/replay/cache/boundary_cache.hpp"
#include "cachebisect/replay/job/training_job.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

namespace cachebisect {

/// Batches are whole, as cached ones are: one that the end of an epoch would cut short is filled
/// from the next. As is: the next samples of the epoch. Warm: the cached samples' own, from
/// `round_batch` on. Cold: the next samples, evicted first. Says in `result` which share of the
/// pages that will be read is in memory when the block begins: cold, of all samples; as is, of one
/// in 16, and only as often as looking takes less than 2% of the time; warm, of the cached samples.
/// Not thread safe.
class LiveReading {
 public:
  /// Keeps a reference to `cache`.
  LiveReading(IoMode io, const BoundaryCache& cache) : io_(io), cache_(&cache) {}

  /// The plan of a block that takes at most `batches` batches. Valid until the next call.
  LoadPlan begin(TrainingJob& job, std::uint64_t batches, std::uint64_t round_batch,
                 BlockResult& result);

 private:
  LoadPlan begin_cold(const Pipeline& pipeline, BlockResult& result);
  void look(const TrainingJob& job, std::uint64_t position, std::uint64_t batches,
            BlockResult& result);

  IoMode io_;
  const BoundaryCache* cache_;
  std::vector<SampleIndex> chosen_;
  double next_look_ = 0;  ///< on the monotonic clock
};

}  // namespace cachebisect
