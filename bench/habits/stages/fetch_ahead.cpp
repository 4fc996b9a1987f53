#include "bench/habits/stages/fetch_ahead.hpp"

#include <algorithm>

#include "cachebisect/base/clock.hpp"

namespace cachebisect::habits {
namespace {

constexpr double kShortestSleep = 500e-6;  ///< samples that take less are fetched in groups
constexpr double kMaxLate = 0.05;          ///< lateness beyond this is not made up for

}  // namespace

FetchAhead::FetchAhead(double seconds_per_sample, std::uint64_t ahead)
    : seconds_(seconds_per_sample),
      ahead_(ahead),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

FetchAhead::~FetchAhead() = default;

void FetchAhead::take() {
  std::unique_lock lock(mutex_);
  // The sample is promised first, so that the thread fetches it however full the buffer is.
  const std::uint64_t number = taken_++;
  room_.notify_one();
  arrival_.wait(lock, [&] { return fetched_ > number; });
}

std::uint64_t FetchAhead::fetched() const {
  const std::scoped_lock lock(mutex_);
  return fetched_;
}

void FetchAhead::run(const std::stop_token& stop) {
  const auto room = [this] { return taken_ + ahead_ - fetched_; };
  const auto group =
      static_cast<std::uint64_t>(std::max(1.0, kShortestSleep / std::max(seconds_, 1e-9)));
  double due = monotonic_seconds();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (room() == 0) {
      if (!room_.wait(lock, stop, [&] { return room() > 0; })) return;
      due = monotonic_seconds();
    }
    const std::uint64_t count = std::min(group, room());
    lock.unlock();
    due = std::max(due, monotonic_seconds() - kMaxLate) + static_cast<double>(count) * seconds_;
    sleep_until(due);
    lock.lock();
    fetched_ += count;
    arrival_.notify_all();
  }
}

}  // namespace cachebisect::habits
