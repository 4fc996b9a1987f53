// Planted costs that are exact on average: waiting without CPU, burning CPU, a serial section.
#pragma once

#include <atomic>
#include <cstdint>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What a thread owes in waiting. It sleeps only when enough is owed to be worth a system call,
/// subtracts what it really slept, and so carries lateness over as credit. Arithmetic only: who
/// sleeps tells it. One a thread; not thread safe.
class CACHEBISECT_API WaitDebt {
 public:
  static constexpr double kWorthSleeping = 60e-6;  ///< seconds
  static constexpr double kMaxCredit = 5e-3;       ///< seconds

  /// Owed seconds; negative: credit.
  [[nodiscard]] double seconds() const noexcept { return debt_; }
  [[nodiscard]] bool worth_sleeping() const noexcept { return debt_ > kWorthSleeping; }
  void add(double seconds) noexcept { debt_ += seconds; }
  /// Replaces the debt; credit beyond kMaxCredit is lost.
  void set(double seconds) noexcept;
  void pay(double slept_seconds) noexcept { set(debt_ - slept_seconds); }
  /// For a thread that blocked on something else: being late cost nothing then.
  void drop_credit() noexcept;

 private:
  double debt_ = 0;
};

/// Burns CPU by the thread's own clock; what it burns too much is credit for the next time.
/// One a thread; not thread safe.
class CACHEBISECT_API CpuBurner {
 public:
  void burn(double cpu_seconds) noexcept;
  /// The rule by itself: CPU time at which a burn that begins at `now` ends.
  [[nodiscard]] double target(double now, double cpu_seconds) const noexcept {
    return now + cpu_seconds - credit_;
  }
  void ended(double target, double now) noexcept { credit_ = now - target; }

 private:
  double credit_ = 0;
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
/// offers it in SampleContext and calls drop_credit() when the worker blocks on the ring or parks.
struct WorkerPace {
  WaitDebt wait;
  CpuBurner cpu;
  void drop_credit() noexcept { wait.drop_credit(); }
};

/// These spend `seconds` on the calling thread, on average over its calls. `pace` may be null (then
/// each call stands for itself).
CACHEBISECT_API void pass_wait(WorkerPace* pace, double seconds) noexcept;
CACHEBISECT_API void burn_cpu(WorkerPace* pace, double seconds) noexcept;
CACHEBISECT_API void pass_serial_section(WorkerPace* pace, FifoTimeline& section,
                                         double seconds) noexcept;

}  // namespace cachebisect
