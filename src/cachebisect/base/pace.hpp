// Planted costs that are exact on average: idle waiting, burning CPU, a serial section.
#pragma once

#include <atomic>
#include <cstdint>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// When a thread is due to finish the costs planted on it so far, on one clock (wall or CPU).
/// A thread that is late has credit: its next cost begins at the due time, not at the actual one.
/// Arithmetic only: the caller sleeps or burns, and passes in the time. One per thread; not thread
/// safe. Times are in seconds.
class CACHEBISECT_INTERNAL_API PaceTimeline {
 public:
  static constexpr double kWorthSleeping = 60e-6;  ///< shorter sleeps are not worth the call
  static constexpr double kMaxCredit = 5e-3;

  /// Resets the timeline. `absorbs`: time between planted costs is the executor's own and is
  /// deducted from them; otherwise it is work of other stages and moves the due time on.
  void begin(bool absorbs) noexcept;
  /// A planted cost begins.
  void arrive(double now) noexcept;
  void add(double seconds) noexcept { due_ += seconds; }
  void move_to(double due) noexcept { due_ = due; }
  /// The planted cost ends, or is carried over as debt or credit.
  void leave(double now) noexcept { left_ = now; }
  /// `seconds` since the last planted cost were part of a cost on another clock: nothing deducts
  /// them from the next one.
  void exclude(double seconds) noexcept;
  /// The thread was blocked for another reason for `waited` seconds until now: this pays its debt,
  /// and cancels its credit.
  void rested(double waited, double now) noexcept;

  [[nodiscard]] double due() const noexcept { return due_; }
  [[nodiscard]] bool absorbs() const noexcept { return absorbs_; }
  [[nodiscard]] bool worth_sleeping(double now) const noexcept {
    return due_ - now > kWorthSleeping;
  }

 private:
  void come_to(double now) noexcept;

  double due_ = 0;
  double left_ = 0;
  bool absorbs_ = false;
  bool begun_ = false;  ///< some time has been passed in
};

/// A section that threads pass one at a time in order of arrival, as a timeline: no thread sleeps
/// with a lock held. Thread safe, lock free. Times are seconds on the monotonic clock.
class CACHEBISECT_INTERNAL_API FifoTimeline {
 public:
  /// Enters at max(arrival, exit of the last thread) and stays for `seconds`; returns the exit
  /// time.
  double pass(double arrival, double seconds) noexcept;

 private:
  std::atomic<double> last_leave_{0};
};

/// The pace of one thread over all stages that it runs. The executor begins one for each thread
/// that loads, with each run, and reports when the thread was blocked.
struct CACHEBISECT_INTERNAL_API WorkerPace {
  PaceTimeline wall;
  PaceTimeline cpu;  ///< on the thread's CPU clock

  /// See PaceTimeline::begin().
  void begin(bool absorbs) noexcept;
  void rested(double waited_seconds) noexcept;
};

/// While it lives, the costs that are planted on this thread keep to this pace; without one (null)
/// each is exact by itself, as on a thread on which none lives. They may be nested.
class CACHEBISECT_INTERNAL_API PaceOfThread {
 public:
  explicit PaceOfThread(WorkerPace* pace) noexcept;
  ~PaceOfThread();
  PaceOfThread(const PaceOfThread&) = delete;
  PaceOfThread& operator=(const PaceOfThread&) = delete;

  /// The pace of the calling thread; null if it has none.
  [[nodiscard]] static WorkerPace* current() noexcept;

 private:
  WorkerPace* before_;
};

/// These spend `seconds` on the calling thread: on average over its calls if it has a pace, else in
/// each single call.
CACHEBISECT_INTERNAL_API void pass_wait(double seconds) noexcept;
CACHEBISECT_INTERNAL_API void burn_cpu(double seconds) noexcept;
CACHEBISECT_INTERNAL_API void pass_serial_section(FifoTimeline& section, double seconds) noexcept;

}  // namespace cachebisect
