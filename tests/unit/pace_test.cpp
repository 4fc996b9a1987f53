#include "cachebisect/base/pace.hpp"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"

using cachebisect::CpuBurner;
using cachebisect::FifoTimeline;
using cachebisect::WaitDebt;
using cachebisect::WorkerPace;

TEST_CASE("a debt is slept off only when it is worth it, and lateness is paid back") {
  WaitDebt debt;
  double clock = 0;
  int sleeps = 0;
  constexpr int kSamples = 1000;
  for (int i = 0; i < kSamples; ++i) {
    debt.add(25e-6);
    if (debt.worth_sleeping()) {
      const double slept = debt.seconds() + 13e-6;  // always late
      clock += slept;
      debt.pay(slept);
      ++sleeps;
    }
  }
  CHECK(clock == doctest::Approx(kSamples * 25e-6).epsilon(0.01));
  CHECK(sleeps < kSamples / 2);
  CHECK(sleeps > 0);
}

TEST_CASE("credit is capped, and dropped when the worker blocked") {
  WaitDebt debt;
  debt.add(100e-6);
  debt.pay(1.0);
  CHECK(debt.seconds() == -WaitDebt::kMaxCredit);
  WorkerPace pace;
  pace.wait = debt;
  pace.drop_credit();
  CHECK(pace.wait.seconds() == 0);
  pace.wait.add(30e-6);
  pace.drop_credit();
  CHECK(pace.wait.seconds() == 30e-6);  // what is owed stays owed
}

TEST_CASE("a serial section serves in order of arrival without losing time") {
  FifoTimeline section;
  CHECK(section.pass(10.0, 2.0) == 12.0);  // empty: enters at once
  CHECK(section.pass(11.0, 2.0) == 14.0);  // waits for the first
  CHECK(section.pass(11.5, 0.5) == 14.5);
  CHECK(section.pass(20.0, 1.0) == 21.0);  // idle in between
}

TEST_CASE("a serial section loses no passage between threads") {
  FifoTimeline section;
  constexpr int kThreads = 4;
  constexpr int kPasses = 10000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&section] {
        for (int i = 0; i < kPasses; ++i) section.pass(0.0, 0.25);
      });
    }
  }
  CHECK(section.pass(0.0, 0.0) == kThreads * kPasses * 0.25);
}

TEST_CASE("overshoot of burnt CPU is credit for the next time") {
  CpuBurner burner;
  double clock = 5.0;
  for (int i = 0; i < 1000; ++i) {
    const double target = burner.target(clock, 10e-6);
    while (clock < target) clock += 0.7e-6;  // a clock with coarse steps
    burner.ended(target, clock);
  }
  CHECK(clock - 5.0 == doctest::Approx(1000 * 10e-6).epsilon(1e-4));
}

TEST_CASE("burning burns at least what is asked on the thread's clock, waiting burns none of it") {
  WorkerPace pace;
  const double before = cachebisect::thread_cpu_seconds();
  for (int i = 0; i < 100; ++i) cachebisect::burn_cpu(&pace, 50e-6);
  CHECK(cachebisect::thread_cpu_seconds() - before >= 4.9e-3);

  const double start = cachebisect::monotonic_seconds();
  for (int i = 0; i < 100; ++i) cachebisect::pass_wait(&pace, 50e-6);
  CHECK(cachebisect::monotonic_seconds() - start >= 4.9e-3);
  CHECK(pace.wait.seconds() <= WaitDebt::kWorthSleeping);
}

TEST_CASE("without a pace each call stands for itself") {
  const double start = cachebisect::monotonic_seconds();
  FifoTimeline section;
  for (int i = 0; i < 10; ++i) {
    cachebisect::pass_wait(nullptr, 20e-6);  // too short to be worth sleeping with a pace
    cachebisect::pass_serial_section(nullptr, section, 20e-6);
    cachebisect::burn_cpu(nullptr, 10e-6);
  }
  CHECK(cachebisect::monotonic_seconds() - start >= 500e-6);
}
