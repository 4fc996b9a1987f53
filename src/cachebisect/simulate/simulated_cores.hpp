// The threads of a simulated machine and the cores that they share: who computes, who waits for a
// core, who sleeps, and when the next of them is done.
//
// All in the header: an event costs less than calls that are not inlined.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cachebisect/simulate/cycle_search.hpp"

namespace cachebisect {

/// Cores are given in order of arrival. A core changes hands when its thread sleeps or parks, or
/// after a time slice when others want it. Times are seconds of the run. Not thread safe.
class SimulatedCores {
 public:
  using Thread = std::size_t;  ///< 0 .. threads - 1
  static constexpr std::size_t kNoStage = std::numeric_limits<std::size_t>::max();

  /// `stages`: how many there are to account for. All threads are parked.
  SimulatedCores(std::size_t threads, int cores, std::size_t stages)
      : cores_(static_cast<std::size_t>(cores)),
        activities_(threads),
        queued_(threads, 0),
        accounts_(stages + 1) {
    turns_.reserve(threads);
  }

  /// The thread works so many seconds on a core of its own, `stage` (0-based) busy meanwhile.
  void compute(Thread thread, double seconds, std::size_t stage = kNoStage) {
    work(thread, {.left = seconds, .since = now_, .account = account(stage)});
  }
  /// As compute(), with the memory bandwidth shared by all that stream.
  void stream(Thread thread, double seconds, std::size_t stage) {
    work(thread, {.left = seconds, .since = now_, .account = account(stage), .streams = true});
  }
  void sleep(Thread thread, double until, std::size_t stage = kNoStage) {
    leave_cores(thread);
    start(thread, {.until = until, .since = now_, .account = account(stage)});
  }
  /// Until somebody else gives the thread something to do.
  void park(Thread thread) { sleep(thread, kNever); }

  /// Moves the clock to the next event: a thread is done, or its turn on a core is over.
  void pass_time() {
    crowded_ = turns_.size() > cores_;
    running_ = std::min(turns_.size(), cores_);
    streaming_ = count_streaming();
    const double until = next_event();
    const double passed = until - now_;
    bool any_over = false;
    for (std::size_t i = 0; i < running_; ++i) {
      run_for(turns_[i], passed);
      any_over = any_over || is_over(turns_[i]);
    }
    if (any_over) queue_again();
    now_ = until;
  }

  [[nodiscard]] double now() const noexcept { return now_; }
  [[nodiscard]] bool is_due(Thread thread) const {
    const Activity& activity = activities_[thread];
    return activity.left <= kDone || activity.until <= now_;
  }
  [[nodiscard]] bool is_parked(Thread thread) const {
    const Activity& activity = activities_[thread];
    return activity.left == kNever && activity.until == kNever;
  }

  /// All that decides what happens next, times counted from now.
  void append_state(RingState& state) const {
    for (const Activity& activity : activities_) {
      state.add_seconds(activity.left);
      state.add_seconds(activity.until - now_);
      state.add_count(static_cast<std::int64_t>(activity.account));
      state.add_count(activity.streams ? 1 : 0);
    }
    state.add_count(static_cast<std::int64_t>(turns_.size()));
    for (const Turn& turn : turns_) {
      state.add_count(static_cast<std::int64_t>(turn.thread));
      state.add_seconds(std::min(turn.ran, kTimeSlice));
    }
  }

  /// On cores, all threads together.
  [[nodiscard]] double cpu_seconds() const noexcept { return cpu_seconds_; }
  [[nodiscard]] double cpu_seconds(std::size_t stage) const { return accounts_[stage + 1].cpu; }
  /// Of a stage up to now, its waits for cores, locks and memory counted.
  [[nodiscard]] double busy_seconds(std::size_t stage) const {
    double busy = accounts_[stage + 1].busy;
    for (const Activity& activity : activities_) {
      if (activity.account == stage + 1) busy += now_ - activity.since;
    }
    return busy;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kDone = 1e-13;  ///< seconds of work left that are none
  /// Shorter bursts run to their end, as a kernel lets them.
  static constexpr double kTimeSlice = 1.5e-3;

  /// What a thread does until its next event; parked where that is nothing.
  struct Activity {
    double left = kNever;     ///< seconds of work on a core of its own
    double until = kNever;    ///< when its sleep ends
    double since = 0;         ///< when it began
    std::size_t account = 0;  ///< whose counters it moves
    bool streams = false;     ///< its work shares the memory
  };
  /// A thread that has a core or waits for one.
  struct Turn {
    Thread thread = 0;
    double ran = 0;  ///< seconds of this turn on a core
  };
  struct Account {
    double busy = 0;
    double cpu = 0;
  };

  /// The first account is of work that belongs to no stage.
  static std::size_t account(std::size_t stage) { return stage == kNoStage ? 0 : stage + 1; }

  void start(Thread thread, const Activity& activity) {
    Activity& before = activities_[thread];
    accounts_[before.account].busy += now_ - before.since;
    before = activity;
  }

  void work(Thread thread, const Activity& activity) {
    start(thread, activity);
    if (queued_[thread] != 0) return;
    queued_[thread] = 1;
    turns_.push_back({.thread = thread});
  }

  void leave_cores(Thread thread) {
    if (queued_[thread] == 0) return;
    queued_[thread] = 0;
    turns_.erase(std::find_if(turns_.begin(), turns_.end(),
                              [&](const Turn& turn) { return turn.thread == thread; }));
  }

  /// Those who stream now; at least 1, so that each of them takes so many times as long.
  [[nodiscard]] double count_streaming() const {
    int streaming = 0;
    for (std::size_t i = 0; i < running_; ++i) {
      streaming += activities_[turns_[i].thread].streams ? 1 : 0;
    }
    return std::max(1, streaming);
  }

  [[nodiscard]] double slowdown(const Activity& activity) const {
    return activity.streams ? streaming_ : 1.0;
  }

  [[nodiscard]] double next_event() const {
    double until = kNever;
    for (const Activity& activity : activities_) until = std::min(until, activity.until);
    for (std::size_t i = 0; i < running_; ++i) {
      const Activity& activity = activities_[turns_[i].thread];
      const double left = std::max(0.0, activity.left);
      until = std::min(until, now_ + left * slowdown(activity));
      if (crowded_) until = std::min(until, now_ + std::max(0.0, kTimeSlice - turns_[i].ran));
    }
    return until;
  }

  void run_for(Turn& turn, double passed) {
    Activity& activity = activities_[turn.thread];
    activity.left -= activity.streams ? passed / streaming_ : passed;
    // A remainder that rounding leaves too small to move the clock is no work.
    if (now_ + activity.left * slowdown(activity) <= now_) activity.left = 0;
    cpu_seconds_ += passed;
    accounts_[activity.account].cpu += passed;
    turn.ran += passed;
  }

  /// Others want the core, and of the time slice there is nothing left that would move the clock.
  [[nodiscard]] bool is_over(const Turn& turn) const {
    const double left = kTimeSlice - turn.ran;
    return crowded_ && (left <= kDone || now_ + left <= now_);
  }

  /// Those whose turn is over go to the end, in the order of the threads.
  void queue_again() {
    const auto over = std::stable_partition(turns_.begin(), turns_.end(),
                                            [&](const Turn& turn) { return !is_over(turn); });
    std::sort(over, turns_.end(), [](const Turn& a, const Turn& b) { return a.thread < b.thread; });
    std::for_each(over, turns_.end(), [](Turn& turn) { turn.ran = 0; });
  }

  std::size_t cores_;
  std::vector<Activity> activities_;  ///< by thread
  std::vector<char> queued_;          ///< by thread: has a place in turns_
  std::vector<Turn> turns_;           ///< in order of arrival; the first cores_ of them run
  std::size_t running_ = 0;           ///< turns that have a core until the next event
  double streaming_ = 1;              ///< of the running ones, until the next event
  bool crowded_ = false;              ///< others want a core until the next event
  std::vector<Account> accounts_;
  double cpu_seconds_ = 0;
  double now_ = 0;
};

}  // namespace cachebisect
