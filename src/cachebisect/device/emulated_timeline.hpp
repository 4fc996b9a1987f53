// The arithmetic of the emulated accelerator: when submitted work begins and ends. Times are
// seconds on the clock that `now` is read from.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/emulated_clock.hpp"
#include "cachebisect/device/launch_queue.hpp"

namespace cachebisect {

/// One stream's timeline. Used by one thread, except drained_to().
class CACHEBISECT_INTERNAL_API EmulatedTimeline {
 public:
  EmulatedTimeline() : EmulatedTimeline(EmulatedClock(0), LaunchQueue(0, 1)) {}
  EmulatedTimeline(EmulatedClock clock, LaunchQueue launches)
      : clock_(std::move(clock)), launches_(std::move(launches)) {}

  /// A copy begins at max(submission, end of the queued work).
  void add_copy(double now, double seconds) noexcept;
  /// Work begins at the end of the queued work, however late it is submitted: a host that wakes up
  /// late does not move the timeline. Once the host has seen the stream empty, the device is idle,
  /// and work begins at its submission. Work whose launch takes time begins after it.
  void add_work(double now, double seconds);
  /// Whatever is queued next begins at `seconds` or later.
  void wait_until(double seconds) noexcept;
  /// When an event recorded at `now` happens.
  [[nodiscard]] double mark(double now) noexcept;

  /// Where the host launches its work.
  [[nodiscard]] LaunchQueue& launches() noexcept { return launches_; }

  /// Number of pieces of work queued so far; identifies the stream's tail.
  [[nodiscard]] std::uint64_t queued() const noexcept { return queued_; }
  /// The host has seen the end of the first `pieces` pieces. Any thread.
  void drained_to(std::uint64_t pieces) noexcept;

 private:
  [[nodiscard]] bool idle() const noexcept {
    return drained_.load(std::memory_order_relaxed) == queued_;
  }

  EmulatedClock clock_;
  LaunchQueue launches_;
  double end_ = 0;
  std::uint64_t queued_ = 0;
  std::atomic<std::uint64_t> drained_{0};
};

}  // namespace cachebisect
