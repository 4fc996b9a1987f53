// Burst credits: a bucket of tokens that refills at a fixed rate.
#pragma once

#include <algorithm>
#include <mutex>

namespace cachebisect::habits {

/// Starts full. Arithmetic only: the caller passes in the time and waits. Thread safe. Times are in
/// seconds.
class TokenBucket {
 public:
  TokenBucket(double capacity, double per_second) noexcept
      : capacity_(capacity), per_second_(per_second), tokens_(capacity) {}

  /// Takes a token at `now`; returns when it is there, `now` or later. Tokens are promised in the
  /// order of the calls.
  double take(double now) noexcept {
    const std::scoped_lock lock(mutex_);
    if (started_) tokens_ = std::min(capacity_, tokens_ + std::max(0.0, now - at_) * per_second_);
    at_ = started_ ? std::max(at_, now) : now;
    started_ = true;
    tokens_ -= 1;
    return tokens_ >= 0 ? now : std::max(now, at_ - tokens_ / per_second_);
  }

 private:
  double capacity_;
  double per_second_;
  double tokens_;  ///< below 0: promised, and not refilled yet
  double at_ = 0;  ///< when tokens_ was up to date
  bool started_ = false;
  std::mutex mutex_;
};

}  // namespace cachebisect::habits
