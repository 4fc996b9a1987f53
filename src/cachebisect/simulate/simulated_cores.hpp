// The threads of a simulated machine and the cores and memory bandwidth that they share.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "cachebisect/simulate/ring_state.hpp"

namespace cachebisect {

/// Threads get cores in order of arrival. A core changes hands when its thread sleeps or parks, or
/// after a time slice if other threads want it. Times are seconds of the run. Not thread safe.
class SimulatedCores {
 public:
  using Thread = std::size_t;  ///< 0 .. threads - 1
  static constexpr std::size_t kNoStage = std::numeric_limits<std::size_t>::max();

  /// `stages`: how many to account for. All threads are parked.
  SimulatedCores(std::size_t threads, int cores, std::size_t stages);

  /// The thread works for `seconds` of core time, during which `stage` (0-based) is busy.
  void compute(Thread thread, double seconds, std::size_t stage = kNoStage) {
    work(thread, {.left = seconds, .since = now_, .account = account(stage)});
  }
  /// As compute(), with the memory bandwidth to itself: threads get it in order of arrival, and
  /// keep their cores while they wait. With equal shares, threads of equal costs would stream in
  /// lockstep forever, as no real threads do.
  void stream(Thread thread, double seconds, std::size_t stage) {
    work(thread, {.left = seconds, .since = now_, .account = account(stage), .streams = true});
  }
  void sleep(Thread thread, double until, std::size_t stage = kNoStage) {
    leave_queue(thread);
    start(thread, {.until = until, .since = now_, .account = account(stage)});
  }
  /// Until the thread is given another activity.
  void park(Thread thread) { sleep(thread, kNever); }

  /// Moves the clock to the next event: a thread is done, or its time slice is over.
  void advance();

  [[nodiscard]] double now() const noexcept { return now_; }
  [[nodiscard]] bool is_due(Thread thread) const {
    const Activity& activity = activities_[thread];
    return activity.left <= kDone || activity.until <= now_;
  }
  [[nodiscard]] bool is_parked(Thread thread) const {
    const Activity& activity = activities_[thread];
    return activity.left == kNever && activity.until == kNever;
  }

  /// Everything that decides what happens next, with times from now.
  void append_state(RingState& state) const;

  /// Time on cores, of all threads together.
  [[nodiscard]] double cpu_seconds() const noexcept { return cpu_seconds_; }
  [[nodiscard]] double cpu_seconds(std::size_t stage) const { return accounts_[stage + 1].cpu; }
  /// Busy time of a stage up to now, including its waits for cores, locks and memory.
  [[nodiscard]] double busy_seconds(std::size_t stage) const;

 private:
  static constexpr Thread kNoThread = std::numeric_limits<Thread>::max();
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kDone = 1e-13;  ///< less work than this many seconds counts as done

  /// What a thread does until its next event; the default is parked.
  struct Activity {
    double left = kNever;     ///< seconds of work
    double until = kNever;    ///< when its sleep ends
    double since = 0;         ///< when it began
    std::size_t account = 0;  ///< whose counters it moves
    bool streams = false;     ///< its work needs the memory bandwidth
  };
  /// A thread that has a core or waits for one.
  struct Runnable {
    Thread thread = 0;
    double ran = 0;  ///< seconds of its time slice
  };
  struct Account {
    double busy = 0;
    double cpu = 0;
  };

  /// The first account is for work that belongs to no stage.
  static std::size_t account(std::size_t stage) { return stage == kNoStage ? 0 : stage + 1; }

  void start(Thread thread, const Activity& activity) {
    Activity& before = activities_[thread];
    accounts_[before.account].busy += now_ - before.since;
    before = activity;
  }
  void work(Thread thread, const Activity& activity);
  void leave_queue(Thread thread);

  [[nodiscard]] Thread first_streamer() const;
  /// Whether a thread that has a core makes progress: false while it waits for the memory
  /// bandwidth.
  [[nodiscard]] bool progresses(Thread thread) const {
    return !activities_[thread].streams || thread == streamer_;
  }
  [[nodiscard]] double next_event() const;
  void run_for(Runnable& runnable, double passed);
  [[nodiscard]] bool slice_is_over(const Runnable& runnable) const;
  void requeue();

  std::size_t cores_;
  std::vector<Activity> activities_;  ///< by thread
  std::vector<char> queued_;          ///< by thread: is in run_queue_
  std::vector<Runnable> run_queue_;   ///< in order of arrival; the first cores_ of them run
  std::vector<Thread> requeued_;      ///< scratch of requeue()
  std::size_t running_ = 0;           ///< threads that have a core until the next event
  Thread streamer_ = kNoThread;       ///< has the memory bandwidth until the next event
  bool crowded_ = false;              ///< other threads want a core until the next event
  std::vector<Account> accounts_;
  double cpu_seconds_ = 0;
  double now_ = 0;
};

}  // namespace cachebisect
