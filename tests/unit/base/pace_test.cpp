#include "cachebisect/base/pace.hpp"

#include <thread>
#include <vector>

#include "support/passed_time.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/clock.hpp"

using cachebisect::FifoTimeline;
using cachebisect::PaceOfThread;
using cachebisect::PaceTimeline;
using cachebisect::WorkerPace;
using cachebisect::test::Beginning;
using cachebisect::test::has_passed;

namespace {

/// A thread in virtual time: its sleeps end late, and other work runs between its costs.
struct Sleeper {
  double now = 100;
  int sleeps = 0;
  double late = 13e-6;

  void cost(PaceTimeline& timeline, double seconds) {
    timeline.arrive(now);
    timeline.add(seconds);
    if (timeline.worth_sleeping(now)) {
      now = timeline.due() + late;
      ++sleeps;
    }
    timeline.leave(now);
  }
};

}  // namespace

TEST_CASE("short debts are carried over, and lateness becomes credit") {
  PaceTimeline timeline;
  Sleeper thread;
  constexpr int kSamples = 1000;
  for (int i = 0; i < kSamples; ++i) thread.cost(timeline, 25e-6);
  CHECK(thread.now - 100 == doctest::Approx(kSamples * 25e-6).epsilon(0.005));
  CHECK(thread.sleeps < kSamples / 2);
  CHECK(thread.sleeps > 0);
}

TEST_CASE("time between planted costs is other stages' work, or the executor's and absorbed") {
  constexpr int kSamples = 1000;
  const auto seconds = [](bool absorbs) {
    PaceTimeline timeline;
    timeline.begin(absorbs);
    Sleeper thread;
    for (int i = 0; i < kSamples; ++i) {
      thread.cost(timeline, 100e-6);
      thread.now += 10e-6;
    }
    return thread.now - 100;
  };
  CHECK(seconds(false) == doctest::Approx(kSamples * 110e-6).epsilon(0.001));
  CHECK(seconds(true) == doctest::Approx(kSamples * 100e-6).epsilon(0.001));
}

TEST_CASE("CPU time that a sleep costs is not deducted from the next burn") {
  for (const bool absorbs : {false, true}) {
    CAPTURE(absorbs);
    PaceTimeline cpu;
    cpu.begin(absorbs);
    cpu.arrive(10);
    cpu.add(100e-6);
    cpu.leave(10.0001);
    cpu.exclude(25e-6);
    cpu.arrive(10.000125);
    CHECK(cpu.due() - 10.000125 == doctest::Approx(0).epsilon(1e-12));
  }
}

TEST_CASE("credit is capped") {
  for (const bool absorbs : {false, true}) {
    PaceTimeline timeline;
    timeline.begin(absorbs);
    timeline.arrive(10);
    timeline.add(100e-6);
    timeline.leave(11);  // slept far too long
    timeline.arrive(11);
    CHECK(11 - timeline.due() == doctest::Approx(PaceTimeline::kMaxCredit));
  }
}

TEST_CASE("being blocked cancels credit and pays debt") {
  for (const bool absorbs : {false, true}) {
    CAPTURE(absorbs);
    PaceTimeline timeline;
    timeline.begin(absorbs);
    timeline.arrive(10);
    timeline.add(100e-6);
    timeline.leave(10.002);  // late by 1.9 ms
    timeline.rested(0.5, 10.502);
    timeline.arrive(10.502);
    CHECK(timeline.due() == doctest::Approx(10.502).epsilon(1e-12));
    timeline.add(50e-6);  // owed
    timeline.leave(10.502);
    timeline.rested(30e-6, 10.50203);
    timeline.arrive(10.50203);
    CHECK(timeline.due() - 10.50203 == doctest::Approx(20e-6).epsilon(1e-3));
  }
}

TEST_CASE("a serial section is passed in order of arrival without gaps") {
  FifoTimeline section;
  CHECK(section.pass(10.0, 2.0) == 12.0);  // empty: enters at once
  CHECK(section.pass(11.0, 2.0) == 14.0);  // waits for the first
  CHECK(section.pass(11.5, 0.5) == 14.5);
  CHECK(section.pass(20.0, 1.0) == 21.0);  // idle in between
}

TEST_CASE("concurrent threads lose no passage through a serial section") {
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

TEST_CASE("CPU burnt beyond the request is credited to the next one") {
  PaceTimeline timeline;
  double clock = 5.0;
  for (int i = 0; i < 1000; ++i) {
    timeline.arrive(clock);
    timeline.add(10e-6);
    while (clock < timeline.due()) clock += 0.7e-6;  // a clock with coarse steps
    timeline.leave(clock);
  }
  CHECK(clock - 5.0 == doctest::Approx(1000 * 10e-6).epsilon(1e-4));
}

TEST_CASE("burning uses at least the requested CPU time, and waiting uses none") {
  WorkerPace pace;
  const PaceOfThread use(&pace);
  const double before = cachebisect::thread_cpu_seconds();
  for (int i = 0; i < 100; ++i) cachebisect::burn_cpu(50e-6);
  CHECK(cachebisect::thread_cpu_seconds() - before >= 4.9e-3);

  const Beginning waiting;
  for (int i = 0; i < 100; ++i) cachebisect::pass_wait(50e-6);
  CHECK(waiting.is_past(4.9e-3));
  CHECK(has_passed(pace.wall.due() - PaceTimeline::kWorthSleeping));
}

TEST_CASE("a burn takes its time at once: no later wait makes up for it") {
  WorkerPace pace;
  pace.begin(true);
  const PaceOfThread kept(&pace);
  cachebisect::burn_cpu(3 * PaceTimeline::kMaxCredit);
  CHECK(has_passed(pace.wall.due()));
}

TEST_CASE("each thread has a pace of its own while it is in use") {
  CHECK(PaceOfThread::current() == nullptr);
  WorkerPace outer;
  const PaceOfThread use(&outer);
  {
    WorkerPace inner;
    const PaceOfThread use_inner(&inner);
    CHECK(PaceOfThread::current() == &inner);
    bool other_has_one = true;
    std::jthread([&] { other_has_one = PaceOfThread::current() != nullptr; }).join();
    CHECK_FALSE(other_has_one);
    const PaceOfThread none(nullptr);
    CHECK(PaceOfThread::current() == nullptr);
  }
  CHECK(PaceOfThread::current() == &outer);
}

TEST_CASE("without a pace every call is exact by itself") {
  const Beginning start;
  FifoTimeline section;
  for (int i = 0; i < 10; ++i) {
    cachebisect::pass_wait(20e-6);  // too short to be worth sleeping with a pace
    cachebisect::pass_serial_section(section, 20e-6);
    cachebisect::burn_cpu(10e-6);
  }
  CHECK(start.is_past(500e-6));
}
