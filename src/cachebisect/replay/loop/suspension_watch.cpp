#include "cachebisect/replay/loop/suspension_watch.hpp"

#include <algorithm>
#include <chrono>

#include "cachebisect/base/clock.hpp"

namespace cachebisect {
namespace {

constexpr std::chrono::milliseconds kTick{10};
constexpr double kVoidGapSeconds = 0.5;

}  // namespace

SuspensionWatch::SuspensionWatch() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

SuspensionWatch::~SuspensionWatch() = default;

void SuspensionWatch::arm() {
  {
    const std::lock_guard lock(mutex_);
    armed_ = true;
    longest_gap_ = 0;
    last_tick_ = monotonic_seconds();
  }
  changed_.notify_all();
}

bool SuspensionWatch::disarm() {
  const std::lock_guard lock(mutex_);
  armed_ = false;
  return std::max(longest_gap_, monotonic_seconds() - last_tick_) > kVoidGapSeconds;
}

void SuspensionWatch::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!armed_) {
      changed_.wait(lock, stop, [this] { return armed_; });
      continue;
    }
    changed_.wait_for(lock, stop, kTick, [] { return false; });
    if (!armed_) continue;
    const double now = monotonic_seconds();
    longest_gap_ = std::max(longest_gap_, now - last_tick_);
    last_tick_ = now;
  }
}

}  // namespace cachebisect
