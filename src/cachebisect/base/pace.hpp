// Planted costs that are exact on average: waiting without CPU, burning CPU, a serial section.
#pragma once

#include <atomic>
#include <cstdint>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// When a thread is due to be done with all that was planted on it, on one clock (wall or CPU).
/// Who is late has credit: what comes next begins at the due time, not at the late one. Arithmetic
/// only: who sleeps or burns tells it the time. One a thread; not thread safe. Times are seconds.
class CACHEBISECT_API PaceTimeline {
 public:
  static constexpr double kWorthSleeping = 60e-6;  ///< less is not worth a system call
  static constexpr double kMaxCredit = 5e-3;

  /// Forgets all. `absorbs`: time that passes between planted costs is the executor's own and is
  /// taken from them; otherwise it is work of other stages, and moves the due time on.
  void begin(bool absorbs) noexcept;
  /// A planted cost begins.
  void arrive(double now) noexcept;
  void add(double seconds) noexcept { due_ += seconds; }
  void move_to(double due) noexcept { due_ = due; }
  /// The planted cost is over, or carried on as debt or credit.
  void leave(double now) noexcept { left_ = now; }
  /// The thread was blocked on something else for `waited` seconds until now: that pays what it
  /// owes, and having been late before cost nothing.
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
  bool begun_ = false;  ///< has seen the time
};

/// A serial section of all threads in order of arrival, as a timeline: nobody holds a lock asleep.
/// Thread safe, lock free. Times are seconds on the monotonic clock.
class CACHEBISECT_API FifoTimeline {
 public:
  /// Enters at max(arrival, when the last one leaves), stays for `seconds`; returns when it leaves.
  double pass(double arrival, double seconds) noexcept;

 private:
  std::atomic<double> last_leave_{0};
};

/// The pace of one worker thread, over all stages that it runs. The executor owns one a worker,
/// offers it in SampleContext, begins it with each run and says when the worker was blocked.
struct CACHEBISECT_API WorkerPace {
  PaceTimeline wall;
  PaceTimeline cpu;  ///< on the thread's CPU clock

  /// See PaceTimeline::begin().
  void begin(bool absorbs) noexcept;
  void rested(double waited_seconds) noexcept;
};

/// These spend `seconds` on the calling thread, on average over its calls. `pace` may be null (then
/// each call stands for itself).
CACHEBISECT_API void pass_wait(WorkerPace* pace, double seconds) noexcept;
CACHEBISECT_API void burn_cpu(WorkerPace* pace, double seconds) noexcept;
CACHEBISECT_API void pass_serial_section(WorkerPace* pace, FifoTimeline& section,
                                         double seconds) noexcept;

}  // namespace cachebisect
