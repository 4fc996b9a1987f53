// Storage that a model stands for: a thread that asks it for bytes waits as long as the model says.
#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/storage/storage_model.hpp"

namespace cachebisect {

/// Sums over all requests that were answered.
struct StorageTotals {
  std::uint64_t requests = 0;
  double seconds = 0;  ///< from asking to the last byte
  double bytes = 0;
  std::uint64_t throttled = 0;  ///< requests that had to wait for their turn to ask
};

/// Thread safe. All threads share the bandwidth and the rate of requests.
class CACHEBISECT_INTERNAL_API EmulatedStorage {
 public:
  /// Throws Error(usage) as check() does.
  explicit EmulatedStorage(const StorageSettings& settings) : model_(settings) {}

  /// One request: sleeps until its last byte is there. A request above the rate asks again as soon
  /// as it is allowed. Throws Error(interrupted) soon after a stop was requested.
  void read(std::uint64_t bytes, const std::stop_token& stop);
  [[nodiscard]] StorageTotals totals() const;

 private:
  struct Asked {
    bool refused = false;
    double until = 0;  ///< the last byte; if refused, the time to ask again
  };
  [[nodiscard]] Asked ask(std::uint64_t bytes);

  mutable std::mutex mutex_;
  StorageModel model_;
  StorageTotals totals_;
};

}  // namespace cachebisect
