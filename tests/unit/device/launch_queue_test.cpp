#include "cachebisect/device/launch_queue.hpp"

#include <doctest/doctest.h>

using namespace cachebisect;
using doctest::Approx;

TEST_CASE("launches follow one another, each for its time") {
  LaunchQueue queue(0.5, 8);
  CHECK(queue.costs());
  CHECK(queue.launch(10, true) == Approx(10.5));
  CHECK(queue.launch(10, false) == Approx(11));
  CHECK(queue.launch(20, false) == Approx(20.5));
  CHECK(queue.free_at() == Approx(20.5));
}

TEST_CASE("a full queue holds the host until its oldest work has run") {
  LaunchQueue queue(0, 2);
  CHECK_FALSE(queue.costs());
  for (const double end : {11.0, 12.0}) {
    CHECK(queue.launch(10, false) == Approx(10));
    queue.ends(end);
  }
  CHECK(queue.launch(10, false) == Approx(11));
  queue.ends(13);
  CHECK(queue.launch(10, false) == Approx(12));
  queue.ends(14);
  CHECK(queue.launch(30, false) == Approx(30));
}

TEST_CASE("what the host overslept is deducted until it has made up for it") {
  LaunchQueue queue(1, 8);
  queue.launch(10, false);
  queue.went_on(10, 11.25);  // it slept until 11
  CHECK(queue.launch(11.25, false) == Approx(12));
  queue.went_on(11.25, 12.5);
  CHECK(queue.launch(20.5, false) == Approx(21));  // a wait for something else remains
  queue.went_on(21, 21);
  CHECK(queue.launch(21, false) == Approx(22));
}

TEST_CASE("a host that has waited for the device is not late") {
  LaunchQueue queue(1, 8);
  queue.launch(10, false);
  queue.went_on(10, 11.25);
  CHECK(queue.launch(11.25, true) == Approx(12.25));
}
