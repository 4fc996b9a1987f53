// A span of time in which bytes from a server are counted.
#pragma once

#include <cstdint>
#include <mutex>

namespace cachebisect {

/// Ends at its deadline, or with its last byte. Thread safe. Times are of the monotonic clock.
class ReadWindow {
 public:
  ReadWindow(double seconds, std::uint64_t most_bytes) noexcept
      : seconds_(seconds), most_bytes_(most_bytes) {}

  void begin(double now) noexcept {
    begin_ = now;
    end_ = now + seconds_;
  }
  /// Bytes that came after the end do not count.
  void add(std::uint64_t bytes, double now) {
    const std::scoped_lock lock(mutex_);
    if (now >= end_) return;
    bytes_ += bytes;
    if (bytes_ >= most_bytes_) end_ = now;
  }
  [[nodiscard]] bool is_over(double now) const {
    const std::scoped_lock lock(mutex_);
    return now >= end_;
  }
  [[nodiscard]] double end() const {
    const std::scoped_lock lock(mutex_);
    return end_;
  }
  /// Bytes per second, of a window in which nothing was read from `now` on.
  [[nodiscard]] double rate(double now) const {
    const std::scoped_lock lock(mutex_);
    const double seconds = (now < end_ ? now : end_) - begin_;
    return seconds > 0 ? static_cast<double>(bytes_) / seconds : 0;
  }

 private:
  double seconds_;
  std::uint64_t most_bytes_;
  double begin_ = 0;
  mutable std::mutex mutex_;
  double end_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace cachebisect
