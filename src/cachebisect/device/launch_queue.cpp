#include "cachebisect/device/launch_queue.hpp"

#include <algorithm>

namespace cachebisect {

LaunchQueue::LaunchQueue(double seconds, std::size_t entries)
    : seconds_(seconds), ends_(std::max<std::size_t>(entries, 1)) {}

double LaunchQueue::launch(double now, bool resumed) noexcept {
  if (resumed) overslept_ = 0;
  free_at_ = std::max({free_at_, now - overslept_, ends_[next_]}) + seconds_;
  return free_at_;
}

void LaunchQueue::ends(double seconds) noexcept {
  ends_[next_] = seconds;
  next_ = (next_ + 1) % ends_.size();
}

void LaunchQueue::went_on(double came, double now) noexcept {
  const double late = std::max(0.0, now - free_at_);
  overslept_ = free_at_ > came ? late : std::min(overslept_, late);
}

}  // namespace cachebisect
