#include "cachebisect/timing/split_batch.hpp"

#include <numeric>

#include <doctest/doctest.h>

using namespace cachebisect;
using doctest::Approx;

namespace {

void check_sum(const BatchTimes& times) {
  const double sum = std::reduce(times.seconds.begin(), times.seconds.end());
  CHECK(sum == Approx(times.total_seconds));
  for (const double seconds : times.seconds) CHECK(seconds >= 0);
}

}  // namespace

TEST_CASE("a batch is wait, copy and the parts of its step") {
  const BatchTimes times = split_batch({.former_end = 10,
                                        .step_begin = 13,
                                        .step_end = 20,
                                        .copy = Interval{12, 13},
                                        .wait_seconds = 1.5,
                                        .part_ends = {15.0, 19.0, 19.5}});
  check_sum(times);
  CHECK(times.total_seconds == 10);
  CHECK(times.of(TimePart::load) == 1.5);
  CHECK(times.of(TimePart::copy) == 1);
  CHECK(times.of(TimePart::forward) == 2);
  CHECK(times.of(TimePart::backward) == 4);
  CHECK(times.of(TimePart::optimizer) == 0.5);
  CHECK(times.of(TimePart::step) == 0);
  CHECK(times.of(TimePart::other) == 1);  // 0.5 before the step, 0.5 at its end
}

TEST_CASE("what the device does not wait for is no part of its time") {
  const BatchTimes times = split_batch({.former_end = 10,
                                        .step_begin = 10,
                                        .step_end = 12,
                                        .copy = Interval{7, 9},
                                        .wait_seconds = 4});
  check_sum(times);
  CHECK(times.of(TimePart::load) == 0);
  CHECK(times.of(TimePart::copy) == 0);
  CHECK(times.of(TimePart::step) == 2);
  CHECK(times.wait_seconds == 4);
  CHECK(times.copy_seconds == 2);
}

TEST_CASE("a copy counts as far as it lies between the steps") {
  const BatchTimes times =
      split_batch({.former_end = 10, .step_begin = 11, .step_end = 12, .copy = Interval{8, 11}});
  check_sum(times);
  CHECK(times.of(TimePart::copy) == 1);
  CHECK(times.copy_seconds == 3);
}

TEST_CASE("a step without an optimizer in this batch has none") {
  const BatchTimes times = split_batch(
      {.former_end = 0, .step_begin = 0, .step_end = 3, .part_ends = {1.0, 2.5, std::nullopt}});
  check_sum(times);
  CHECK(times.of(TimePart::backward) == 1.5);
  CHECK(times.of(TimePart::optimizer) == 0);
  CHECK(times.of(TimePart::other) == 0.5);
}

TEST_CASE("marks out of order give no negative time") {
  check_sum(split_batch({.former_end = 10,
                         .step_begin = 9,
                         .step_end = 9.5,
                         .copy = Interval{12, 11},
                         .wait_seconds = 1,
                         .part_ends = {8.0, 20.0, 3.0}}));
}
