// The number of samples K that the caches hold: the same at every boundary, within the budgets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What K depends on. Bytes are means per sample.
struct CacheNeeds {
  std::int64_t batch_size = 1;
  std::uint64_t data_set_samples = 0;
  double host_bytes_per_sample = 0;    ///< of all boundaries held on the host, together
  double device_bytes_per_sample = 0;  ///< of all boundaries held on the device, together
  double wanted_samples = 0;           ///< K should not be smaller
  double host_budget_bytes = 0;
  double host_memory_bytes = 0;  ///< available for all purposes; 0: unknown
  std::optional<double> device_budget_bytes;
};

/// What the caches may take on the host: the budget, or the memory if that is less.
[[nodiscard]] CACHEBISECT_INTERNAL_API double host_limit(const CacheNeeds& needs) noexcept;

struct CacheSize {
  std::uint64_t samples = 0;  ///< K, whole batches
  /// Empty, "data set", "host budget", "available host memory", "device budget".
  std::string limited_by;
};

/// K is the maximum of 64 samples, two batches, and what is wanted; capped by the data set and the
/// budgets. The items of a small K stay in the processor's caches, where
/// the next stage finds them in training too, because they have just been made. Throws Error(usage)
/// if a budget does not hold one batch.
CACHEBISECT_INTERNAL_API CacheSize choose_cache_size(const CacheNeeds& needs);

/// The most samples that the budgets hold, whole batches. Throws as choose_cache_size().
[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint64_t most_samples(CacheNeeds needs);

}  // namespace cachebisect
