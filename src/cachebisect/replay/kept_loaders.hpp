// A loader for each arm, which goes on in a block where it was at the end of the one before.
#pragma once

#include <cstddef>
#include <map>
#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/arm.hpp"

namespace cachebisect {

/// Arms that differ only in what is observed, or in how they are called, have one ring: this one's.
[[nodiscard]] CACHEBISECT_INTERNAL_API Arm same_ring(Arm arm);

/// A block that begins with an empty ring shows for some steps how the ring fills. Each arm that
/// workers load for has a ring of its own instead, made when it is first needed, as far as a
/// quarter of the memory that is free when this is made holds them: the page cache stays, which
/// readers may live on. One thread at a time.
class CACHEBISECT_INTERNAL_API KeptLoaders {
 public:
  /// Keeps references to both. `keeps` false: no arm has a ring of its own.
  KeptLoaders(const Pipeline& pipeline, Device& device, const ExecutorOptions& options,
              bool keeps = true);

  /// True if the rings of all boundaries fit, and of some arms more. False without workers, and for
  /// samples of dynamic shape, whose size is not known.
  [[nodiscard]] bool fit() const noexcept { return limit_ >= needed_; }
  /// The loader of an arm without overrides; null if workers load nothing for it, or if no memory
  /// is left for its ring.
  [[nodiscard]] Executor* find(const Arm& arm);
  /// True if workers load for this arm.
  [[nodiscard]] bool loads(const Arm& arm) const noexcept;
  /// The caches are filled anew: all arms begin with an empty ring.
  void drop();
  /// The cached samples are replaced in place: drops the rings whose batches are views of them.
  void drop_views();

 private:
  [[nodiscard]] std::size_t last_boundary() const noexcept;

  const Pipeline* pipeline_;
  Device* device_;
  ExecutorOptions options_;
  std::size_t needed_;  ///< rings
  std::size_t limit_;   ///< rings that fit
  std::map<Arm, std::unique_ptr<Executor>> loaders_;
};

}  // namespace cachebisect
