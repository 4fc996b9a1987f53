// A cost that changes once, some time after the first sample.
#pragma once

#include <atomic>

namespace cachebisect::habits {

/// Seconds per sample. Thread safe.
class ChangingCost {
 public:
  ChangingCost(double seconds, double factor, double after_seconds) noexcept
      : seconds_(seconds), factor_(factor), after_(after_seconds) {}

  /// The cost of a sample at time `now`; the first call starts the clock.
  double at(double now) noexcept {
    double started = kNever;
    // If another call came first, this reads its time.
    if (started_.compare_exchange_strong(started, now)) started = now;
    return now - started < after_ ? seconds_ : factor_ * seconds_;
  }

 private:
  static constexpr double kNever = -1;

  double seconds_;
  double factor_;
  double after_;
  std::atomic<double> started_{kNever};
};

}  // namespace cachebisect::habits
