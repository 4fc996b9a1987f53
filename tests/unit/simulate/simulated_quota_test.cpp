#include "cachebisect/simulate/simulated_quota.hpp"

#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("work below the quota takes the time that it takes") {
  QuotaClock clock({.cpus = 1.5, .period_seconds = 0.1});
  CHECK(clock.run(0.03, 1, 1.4) == doctest::Approx(1));
  CHECK(clock.throttled() == 0);
}

TEST_CASE("work above the quota takes as long as the quota needs for it") {
  QuotaClock clock({.cpus = 0.5, .period_seconds = 0.1});
  // 20 periods of 0.05 CPU seconds; the last one ends as its quota does.
  CHECK(clock.run(0, 0.5, 1) == doctest::Approx(1.925));
  CHECK(clock.throttled() == 19);
}

TEST_CASE("what is left of a period is what the work before it left") {
  QuotaClock clock({.cpus = 1, .period_seconds = 0.1});
  CHECK(clock.run(0, 0.05, 0.1) == doctest::Approx(0.05));
  CHECK(clock.run(0.05, 0.01, 0.01) == doctest::Approx(0.06));
  CHECK(clock.throttled() == 1);
}

TEST_CASE("without a quota nothing stands still") {
  QuotaClock clock({});
  CHECK(clock.run(0, 1, 64) == doctest::Approx(1));
  CHECK(clock.throttled() == 0);
}
