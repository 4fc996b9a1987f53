#include "cachebisect/base/pace.hpp"

#include <algorithm>

#include "cachebisect/base/clock.hpp"

namespace cachebisect {
namespace {

/// Sleeps off what is owed at `now`.
void settle(WaitDebt& debt, double now) noexcept {
  sleep_until(now + debt.seconds());
  debt.pay(monotonic_seconds() - now);
}

/// About half a microsecond of dependent arithmetic.
void spin_briefly() noexcept {
  std::uint64_t x = 1;
  for (int i = 0; i < 256; ++i) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    asm volatile("" : "+r"(x));  // keeps the loop
  }
}

}  // namespace

void WaitDebt::set(double seconds) noexcept { debt_ = std::max(seconds, -kMaxCredit); }

void WaitDebt::drop_credit() noexcept { debt_ = std::max(debt_, 0.0); }

void CpuBurner::burn(double cpu_seconds) noexcept {
  double now = thread_cpu_seconds();
  const double until = target(now, cpu_seconds);
  while (now < until) {
    spin_briefly();
    now = thread_cpu_seconds();
  }
  ended(until, now);
}

double FifoTimeline::pass(double arrival, double seconds) noexcept {
  double last = last_leave_.load(std::memory_order_relaxed);
  double leave = std::max(arrival, last) + seconds;
  while (!last_leave_.compare_exchange_weak(last, leave, std::memory_order_relaxed)) {
    leave = std::max(arrival, last) + seconds;
  }
  return leave;
}

void pass_wait(WorkerPace* pace, double seconds) noexcept {
  WaitDebt alone;
  WaitDebt& debt = pace != nullptr ? pace->wait : alone;
  debt.add(seconds);
  if (pace == nullptr || debt.worth_sleeping()) settle(debt, monotonic_seconds());
}

void burn_cpu(WorkerPace* pace, double seconds) noexcept {
  CpuBurner alone;
  (pace != nullptr ? pace->cpu : alone).burn(seconds);
}

void pass_serial_section(WorkerPace* pace, FifoTimeline& section, double seconds) noexcept {
  WaitDebt alone;
  WaitDebt& debt = pace != nullptr ? pace->wait : alone;
  const double now = monotonic_seconds();
  // Who owes waiting will arrive later than now; who woke up late would have arrived earlier.
  debt.set(section.pass(now + debt.seconds(), seconds) - now);
  if (pace == nullptr || debt.worth_sleeping()) settle(debt, now);
}

}  // namespace cachebisect
