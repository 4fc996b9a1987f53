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
  double largest_host_item_bytes = 0;    ///< over the boundaries held on the host
  double largest_device_item_bytes = 0;  ///< over those held on the device
  double host_bytes_per_sample = 0;      ///< of all boundaries held on the host, together
  double device_bytes_per_sample = 0;    ///< of all boundaries held on the device, together
  double llc_bytes = 0;                  ///< last-level cache available to the workers
  std::optional<double> device_l2_bytes;
  double samples_in_flight = 0;   ///< claimed by workers and waiting in the ring
  double seconds_per_sample = 0;  ///< of the pass that fills the caches
  double fill_seconds = 2;        ///< limit of that pass, unless the smallest useful K takes longer
  double host_budget_bytes = 0;
  double host_memory_bytes = 0;  ///< available for all purposes; 0: unknown
  std::optional<double> device_budget_bytes;
};

/// What the caches may take on the host: the budget, or the memory if that is less.
[[nodiscard]] CACHEBISECT_INTERNAL_API double host_limit(const CacheNeeds& needs) noexcept;

struct CacheSize {
  std::uint64_t samples = 0;  ///< K, whole batches
  std::string limited_by;     ///< empty, "data set", "fill time", "host budget",
                              ///< "available host memory", "device budget"
};

/// K is the maximum of: 64 samples; twice the last-level cache over the largest host item; twice
/// the device's L2 over the largest device item; two batches more than are in flight. Capped by the
/// data set, the time to fill and the budgets. Throws Error(usage) if a budget does not hold one
/// batch.
CACHEBISECT_INTERNAL_API CacheSize choose_cache_size(const CacheNeeds& needs);

}  // namespace cachebisect
