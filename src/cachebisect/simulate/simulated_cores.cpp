#include "cachebisect/simulate/simulated_cores.hpp"

#include <algorithm>
#include <cstdint>

namespace cachebisect {
namespace {

/// Shorter bursts run to their end, as under the kernel's scheduler.
constexpr double kTimeSlice = 1.5e-3;

}  // namespace

SimulatedCores::SimulatedCores(std::size_t threads, int cores, std::size_t stages)
    : cores_(static_cast<std::size_t>(cores)),
      activities_(threads),
      queued_(threads, 0),
      accounts_(stages + 1) {
  run_queue_.reserve(threads);
}

void SimulatedCores::advance() {
  crowded_ = run_queue_.size() > cores_;
  running_ = std::min(run_queue_.size(), cores_);
  streamer_ = first_streamer();
  const double until = next_event();
  const double passed = until - now_;
  bool any_over = false;
  for (std::size_t i = 0; i < running_; ++i) {
    run_for(run_queue_[i], passed);
    any_over = any_over || slice_is_over(run_queue_[i]);
  }
  if (any_over) requeue();
  now_ = until;
}

void SimulatedCores::append_state(RingState& state) const {
  for (const Activity& activity : activities_) {
    state.add_seconds(activity.left);
    state.add_seconds(activity.until - now_);
    state.add_count(static_cast<std::int64_t>(activity.account));
    state.add_count(activity.streams ? 1 : 0);
    if (activity.streams) state.add_seconds(now_ - activity.since);
  }
  state.add_count(static_cast<std::int64_t>(run_queue_.size()));
  for (const Runnable& runnable : run_queue_) {
    state.add_count(static_cast<std::int64_t>(runnable.thread));
    state.add_seconds(std::min(runnable.ran, kTimeSlice));
  }
}

double SimulatedCores::busy_seconds(std::size_t stage) const {
  double busy = accounts_[stage + 1].busy;
  for (const Activity& activity : activities_) {
    if (activity.account == stage + 1) busy += now_ - activity.since;
  }
  return busy;
}

void SimulatedCores::work(Thread thread, const Activity& activity) {
  start(thread, activity);
  if (queued_[thread] != 0) return;
  queued_[thread] = 1;
  run_queue_.push_back({.thread = thread});
}

void SimulatedCores::leave_queue(Thread thread) {
  if (queued_[thread] == 0) return;
  queued_[thread] = 0;
  run_queue_.erase(std::find_if(run_queue_.begin(), run_queue_.end(),
                                [&](const Runnable& r) { return r.thread == thread; }));
}

/// The thread on a core that has asked for the memory bandwidth first.
SimulatedCores::Thread SimulatedCores::first_streamer() const {
  Thread first = kNoThread;
  double since = kNever;
  for (std::size_t i = 0; i < running_; ++i) {
    const Thread thread = run_queue_[i].thread;
    const Activity& activity = activities_[thread];
    if (!activity.streams || activity.since >= since) continue;
    first = thread;
    since = activity.since;
  }
  return first;
}

double SimulatedCores::next_event() const {
  double until = kNever;
  for (const Activity& activity : activities_) until = std::min(until, activity.until);
  for (std::size_t i = 0; i < running_; ++i) {
    const Runnable& runnable = run_queue_[i];
    const Activity& activity = activities_[runnable.thread];
    if (progresses(runnable.thread)) until = std::min(until, now_ + std::max(0.0, activity.left));
    if (crowded_) until = std::min(until, now_ + std::max(0.0, kTimeSlice - runnable.ran));
  }
  return until;
}

void SimulatedCores::run_for(Runnable& runnable, double passed) {
  Activity& activity = activities_[runnable.thread];
  if (progresses(runnable.thread)) {
    activity.left -= passed;
    // Rounding may leave a remainder too small to move the clock: that work is done.
    if (now_ + activity.left <= now_) activity.left = 0;
  }
  cpu_seconds_ += passed;
  accounts_[activity.account].cpu += passed;
  runnable.ran += passed;
}

/// True if other threads want the core and too little of the slice is left to move the clock.
bool SimulatedCores::slice_is_over(const Runnable& runnable) const {
  const double left = kTimeSlice - runnable.ran;
  return crowded_ && (left <= kDone || now_ + left <= now_);
}

/// Moves the threads whose slice is over to the end of the queue, in the order of their numbers.
void SimulatedCores::requeue() {
  requeued_.clear();
  std::erase_if(run_queue_, [&](const Runnable& runnable) {
    if (!slice_is_over(runnable)) return false;
    requeued_.push_back(runnable.thread);
    return true;
  });
  std::sort(requeued_.begin(), requeued_.end());
  for (const Thread thread : requeued_) run_queue_.push_back({.thread = thread});
}

}  // namespace cachebisect
