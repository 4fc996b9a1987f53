#include "cachebisect/device/emulated_clock.hpp"

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

constexpr double kDrop = 0.2;
constexpr double kStep = 1e-3;

/// Seconds that the last of `steps` steps takes; each begins `rest` after the one before it.
double last_step(EmulatedClock& clock, int steps, double rest) {
  double end = 10;
  double seconds = 0;
  for (int i = 0; i < steps; ++i) {
    const double begin = end + rest;
    end = clock.run(begin, kStep);
    seconds = end - begin;
  }
  return seconds;
}

}  // namespace

TEST_CASE("a clock that does not fall leaves work as long as it is") {
  EmulatedClock clock(0);
  CHECK(last_step(clock, 500, 0) == doctest::Approx(kStep).epsilon(1e-9));
}

TEST_CASE("after 100 ms without a rest the clock is at its lowest") {
  EmulatedClock clock(kDrop);
  CHECK(clock.run(1, kStep) == doctest::Approx(1 + kStep));  // the first one finds no load
  EmulatedClock busy(kDrop);
  CHECK(last_step(busy, 500, 0) == doctest::Approx(kStep / (1 - kDrop)).epsilon(1e-6));
}

TEST_CASE("the load is the busy share of the last 100 ms") {
  EmulatedClock clock(kDrop);
  const double end = clock.run(1, 0.05);
  CHECK(clock.run(end + 0.05, kStep) - end - 0.05 ==
        doctest::Approx(kStep / (1 - kDrop * 0.5)).epsilon(1e-6));
  // A rest of 100 ms and more forgets all.
  CHECK(clock.run(end + 1, kStep) == doctest::Approx(end + 1 + kStep));
}

TEST_CASE("a device that rests for as long as it works keeps a part of its clock") {
  EmulatedClock clock(kDrop);
  const double step = last_step(clock, 1000, 1.1e-3);
  CHECK(step > kStep * 1.08);
  CHECK(step < kStep / (1 - kDrop));
}
