// Gains in words, and the caution before remedies that may lose.
#include "cachebisect/report/words/remedy_text.hpp"

#include <string>

#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

Estimate gained(double value, double low, double high) {
  return {.value = value, .interval = Interval{low, high}};
}

}  // namespace

TEST_CASE("a gain is said with its interval and with how it is known") {
  CHECK(remedy_gain({.predicted = gained(3050, 2980, 3110)}) ==
        "gains 3,050 samples/s (2,980 to 3,110, predicted)");
  CHECK(
      remedy_gain({.predicted = gained(3050, 2980, 3110), .measured = gained(2980, 2950, 3020)}) ==
      "gains 3,050 samples/s (2,980 to 3,110, predicted), 2,980 samples/s (2,950 to 3,020, "
      "measured)");
  CHECK(remedy_gain({.measured = {.value = 2980}}) == "gains 2,980 samples/s (measured)");
  CHECK(remedy_gain({}).empty());
}

TEST_CASE("what may lose is not said to gain") {
  CHECK(has(remedy_gain({.predicted = gained(1760, -300, 3000)}), "changes throughput by"));
  CHECK(has(remedy_gain({.measured = gained(-240, -260, -220)}), "changes throughput by -240"));
}

TEST_CASE("a caution stands before remedies of which the first may lose") {
  const Remedy gains{.predicted = gained(50, 40, 60)};
  const Remedy may_lose{.predicted = gained(1760, -300, 3000)};
  CHECK(remedies_caution({}).empty());
  CHECK(remedies_caution({gains, may_lose}).empty());
  CHECK(has(remedies_caution({may_lose}), "certain to gain"));
  CHECK(remedies_caution({Remedy{}, may_lose}).empty());
}
