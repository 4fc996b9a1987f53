#include "cachebisect/base/pace.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"

namespace cachebisect {
namespace {

thread_local WorkerPace* pace_of_thread = nullptr;

/// About half a microsecond of dependent arithmetic.
void spin_briefly() noexcept {
  std::uint64_t x = 1;
  for (int i = 0; i < 256; ++i) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    asm volatile("" : "+r"(x));  // keeps the loop
  }
}

/// Burns until the CPU timeline is due; returns the CPU time then.
double burn_until_due(const PaceTimeline& timeline, double now) noexcept {
  while (now < timeline.due()) {
    spin_briefly();
    now = thread_cpu_seconds();
  }
  return now;
}

/// Sleeps for the time owed at `now`, if that is worth it or cannot be carried over.
void settle(WorkerPace* pace, PaceTimeline& timeline, double now) noexcept {
  if (pace == nullptr) {
    sleep_until(timeline.due());
    return;
  }
  if (!timeline.worth_sleeping(now)) {
    timeline.leave(now);
    return;
  }
  const double begin = thread_cpu_seconds();
  sleep_until(timeline.due());
  timeline.leave(monotonic_seconds());
  // What the sleep costs the CPU is part of the wait: a burn that deducted it would be too short.
  pace->cpu.exclude(thread_cpu_seconds() - begin);
}

}  // namespace

void PaceTimeline::begin(bool absorbs) noexcept {
  *this = PaceTimeline{};
  absorbs_ = absorbs;
}

void PaceTimeline::come_to(double now) noexcept {
  if (!begun_) {
    due_ = now;
  } else if (!absorbs_) {
    due_ += now - left_;
  }
  begun_ = true;
  left_ = now;
}

void PaceTimeline::arrive(double now) noexcept {
  come_to(now);
  due_ = std::max(due_, now - kMaxCredit);
}

void PaceTimeline::exclude(double seconds) noexcept {
  if (absorbs_ && begun_) due_ += seconds;
}

void PaceTimeline::rested(double waited, double now) noexcept {
  come_to(now);
  if (!absorbs_) due_ -= waited;
  due_ = std::max(due_, now);
}

double FifoTimeline::pass(double arrival, double seconds) noexcept {
  double last = last_leave_.load(std::memory_order_relaxed);
  double leave = std::max(arrival, last) + seconds;
  while (!last_leave_.compare_exchange_weak(last, leave, std::memory_order_relaxed)) {
    leave = std::max(arrival, last) + seconds;
  }
  return leave;
}

void WorkerPace::begin(bool absorbs) noexcept {
  wall.begin(absorbs);
  cpu.begin(absorbs);
}

void WorkerPace::rested(double waited_seconds) noexcept {
  wall.rested(waited_seconds, monotonic_seconds());
}

PaceOfThread::PaceOfThread(WorkerPace* pace) noexcept
    : before_(std::exchange(pace_of_thread, pace)) {}

PaceOfThread::~PaceOfThread() { pace_of_thread = before_; }

WorkerPace* PaceOfThread::current() noexcept { return pace_of_thread; }

void pass_wait(double seconds) noexcept {
  WorkerPace* const pace = pace_of_thread;
  PaceTimeline alone;
  PaceTimeline& timeline = pace != nullptr ? pace->wall : alone;
  const double now = monotonic_seconds();
  timeline.arrive(now);
  timeline.add(seconds);
  settle(pace, timeline, now);
}

void burn_cpu(double seconds) noexcept {
  WorkerPace* const pace = pace_of_thread;
  PaceTimeline alone;
  PaceTimeline& timeline = pace != nullptr ? pace->cpu : alone;
  // Time spent waiting for a core is deducted from later waits: as long as the cores have capacity
  // left, threads keep to their planted costs whatever else runs.
  if (timeline.absorbs()) {
    pace->wall.arrive(monotonic_seconds());
    pace->wall.add(seconds);
  }
  const double begin = thread_cpu_seconds();
  timeline.arrive(begin);
  timeline.add(seconds);
  timeline.leave(burn_until_due(timeline, begin));
  if (timeline.absorbs()) pace->wall.leave(monotonic_seconds());
}

void pass_serial_section(FifoTimeline& section, double seconds) noexcept {
  WorkerPace* const pace = pace_of_thread;
  PaceTimeline alone;
  PaceTimeline& timeline = pace != nullptr ? pace->wall : alone;
  const double now = monotonic_seconds();
  // A thread due later has not arrived yet; a late one would have arrived earlier.
  timeline.arrive(now);
  if (timeline.due() > now) sleep_until(timeline.due());
  timeline.move_to(section.pass(timeline.due(), seconds));
  settle(pace, timeline, now);
}

}  // namespace cachebisect
