#include "cachebisect/base/clock.hpp"

#include <cerrno>
#include <cmath>
#include <ctime>

#include <sys/prctl.h>

namespace cachebisect {
namespace {

double read_seconds(clockid_t id) noexcept {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Lets the calling thread's sleeps overrun by a nanosecond instead of the default 50 us.
bool set_timer_slack() noexcept { return prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0; }

}  // namespace

double monotonic_seconds() noexcept { return read_seconds(CLOCK_MONOTONIC); }

double thread_cpu_seconds() noexcept { return read_seconds(CLOCK_THREAD_CPUTIME_ID); }

double process_cpu_seconds() noexcept { return read_seconds(CLOCK_PROCESS_CPUTIME_ID); }

void sleep_until(double deadline) noexcept {
  [[maybe_unused]] thread_local const bool precise = set_timer_slack();
  const double whole = std::floor(deadline);
  timespec until{};
  until.tv_sec = static_cast<time_t>(whole);
  until.tv_nsec = static_cast<long>((deadline - whole) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace cachebisect
