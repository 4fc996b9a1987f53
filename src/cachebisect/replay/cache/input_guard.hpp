// Detects a stage or training step that writes its input: the caches no longer hold what was put
// in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/cache/boundary_cache.hpp"

namespace cachebisect {

/// Checks a boundary's cache after its first replay, and one boundary in every few rounds. A check
/// throws Error(data) if the cache has changed. The message names the stage if running the sample
/// stages one by one on copies shows it, else all that may have done it. One thread at a time.
class InputGuard {
 public:
  /// Keeps references to both. `step` is the training step's name.
  InputGuard(const Pipeline& pipeline, BoundaryCache& cache, std::string step);

  /// The caches have been filled anew: all boundaries will be checked after their first replay.
  void caches_filled();
  /// The cached samples have been replaced by others.
  void freshened();
  /// Around a block that is replayed from `boundary`.
  void before_replay(std::size_t boundary);
  void after_replay(std::size_t boundary);
  void begin_round();

 private:
  void check(std::size_t boundary) const;

  const Pipeline* pipeline_;
  BoundaryCache* cache_;
  std::string step_;
  std::vector<bool> replayed_;  ///< by boundary
  std::uint64_t rounds_ = 0;
  std::size_t next_ = 1;  ///< the boundary to be checked next, after kRoundsBetweenChecks rounds
};

}  // namespace cachebisect
