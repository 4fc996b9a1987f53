#include "cachebisect/device/emulated_timeline.hpp"

#include <algorithm>

namespace cachebisect {

void EmulatedTimeline::add_copy(double now, double seconds) noexcept {
  end_ = std::max(end_, now) + seconds;
  ++queued_;
}

void EmulatedTimeline::add_work(double now, double seconds) {
  const double launched = launches_.launch(now, idle());
  if (idle()) end_ = std::max(end_, now);
  if (launches_.costs()) end_ = std::max(end_, launched);
  end_ = clock_.run(end_, seconds);
  launches_.ends(end_);
  ++queued_;
}

void EmulatedTimeline::wait_until(double seconds) noexcept { end_ = std::max(end_, seconds); }

double EmulatedTimeline::mark(double now) noexcept {
  if (idle()) end_ = std::max(end_, now);
  return end_;
}

void EmulatedTimeline::drained_to(std::uint64_t pieces) noexcept {
  std::uint64_t known = drained_.load(std::memory_order_relaxed);
  while (known < pieces &&
         !drained_.compare_exchange_weak(known, pieces, std::memory_order_relaxed)) {
  }
}

}  // namespace cachebisect
