// When requests are made again: pauses as numbers.
#include "cachebisect/http/retry.hpp"

#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("pauses double, half of them drawn, up to the longest") {
  const RetryLimits limits{
      .tries = 20, .first_seconds = 0.1, .most_seconds = 1, .total_seconds = 99};
  const auto pause = [&](int tries, double uniform) {
    return retry_pause(limits, {.tries = tries, .seconds = 1}, uniform).value();
  };
  CHECK(pause(1, 0) == doctest::Approx(0.05));
  CHECK(pause(1, 0.5) == doctest::Approx(0.075));
  CHECK(pause(2, 0) == doctest::Approx(0.1));
  CHECK(pause(4, 0) == doctest::Approx(0.4));
  CHECK(pause(5, 0) == doctest::Approx(0.5));
  CHECK(pause(19, 0) == doctest::Approx(0.5));
  CHECK(pause(19, 1) == doctest::Approx(1));
}

TEST_CASE("the pause that a server asks for is kept, as far as there is time") {
  const RetryLimits limits{
      .tries = 8, .first_seconds = 0.1, .most_seconds = 10, .total_seconds = 20};
  CHECK(retry_pause(limits, {.tries = 1, .seconds = 0, .asked_seconds = 5}, 0) == 5);
  CHECK(retry_pause(limits, {.tries = 1, .seconds = 0, .asked_seconds = 5}, 1).value() > 5);
  CHECK(retry_pause(limits, {.tries = 1, .seconds = 0, .asked_seconds = 0.01}, 0).value() >= 0.05);
  CHECK_FALSE(retry_pause(limits, {.tries = 1, .seconds = 16, .asked_seconds = 5}, 0));
  CHECK_FALSE(retry_pause(limits, {.tries = 1, .seconds = 0, .asked_seconds = 3600}, 0));
}

TEST_CASE("tries and time end") {
  const RetryLimits limits{.tries = 3, .first_seconds = 1, .most_seconds = 10, .total_seconds = 10};
  CHECK(retry_pause(limits, {.tries = 2, .seconds = 1}, 0));
  CHECK_FALSE(retry_pause(limits, {.tries = 3, .seconds = 1}, 0));
  CHECK_FALSE(retry_pause(limits, {.tries = 1, .seconds = 10}, 0));
}
