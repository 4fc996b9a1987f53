#include "cachebisect/device/emulated_clock.hpp"

#include <algorithm>

namespace cachebisect {

double EmulatedClock::run(double begin, double seconds) {
  if (drop_ == 0) return begin + seconds;
  forget_before(begin - kWindow);
  const double load = std::clamp(busy_seconds_ / kWindow, 0.0, 1.0);
  const double end = begin + seconds / (1 - drop_ * load);
  if (!busy_.empty() && busy_.back().end == begin) {
    busy_.back().end = end;
  } else {
    busy_.push_back({begin, end});
  }
  busy_seconds_ += end - begin;
  return end;
}

void EmulatedClock::forget_before(double time) noexcept {
  while (!busy_.empty() && busy_.front().end <= time) {
    busy_seconds_ -= busy_.front().end - busy_.front().begin;
    busy_.pop_front();
  }
  if (busy_.empty()) {
    busy_seconds_ = 0;  // without the rounding errors of the sum
  } else if (busy_.front().begin < time) {
    busy_seconds_ -= time - busy_.front().begin;
    busy_.front().begin = time;
  }
}

}  // namespace cachebisect
