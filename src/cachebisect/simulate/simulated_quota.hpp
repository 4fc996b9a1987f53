// The CPU quota of a simulated machine.
#pragma once

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct SimulatedQuota {
  double cpus = 0;  ///< 0: no quota
  double period_seconds = 0.1;
};

/// A period begins at every multiple of its length. When its CPU seconds are used up, everything
/// stands still until the next one begins. Not thread safe.
class CACHEBISECT_INTERNAL_API QuotaClock {
 public:
  explicit QuotaClock(SimulatedQuota quota) : quota_(quota) {}

  /// Seconds that work takes from `start` on, which takes `seconds` and uses `cpu_seconds` at an
  /// even pace without a quota. Starts may not decrease.
  double run(double start, double seconds, double cpu_seconds);
  /// Periods, up to the last start, in which the quota was used up.
  [[nodiscard]] int throttled() const noexcept { return throttled_; }

 private:
  void enter(double period);

  SimulatedQuota quota_;
  double period_ = 0;  ///< number of the current one
  double used_ = 0;    ///< CPU seconds, in the current period
  int throttled_ = 0;
};

}  // namespace cachebisect
