#include "cachebisect/bisect/evidence/drift.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;

namespace {

/// Rounds with 2% noise whose log tau grows by `change` from the first to the last.
std::vector<double> rounds(std::size_t count, double change, std::uint64_t seed) {
  RandomStream random({.seed = seed, .stage = 1});
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double trend = change * static_cast<double>(i) / static_cast<double>(count - 1);
    values[i] = -7 + trend + random.uniform(-0.02, 0.02);
  }
  return values;
}

}  // namespace

TEST_CASE("a trend over the rounds is found with its size") {
  for (const std::size_t count : {30U, 1000U}) {
    const Estimate drift = find_drift(rounds(count, std::log(1.2), 1), 0.99);
    CHECK(*drift.value == doctest::Approx(0.2).epsilon(0.1));
    CHECK(drift.interval->low > 0.1);
    CHECK(drift.interval->low <= 0.2);
    CHECK(drift.interval->high >= 0.2);
  }
}

TEST_CASE("noise alone is rarely called a drift") {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Estimate drift = find_drift(rounds(20, 0, seed), 0.99);
    alarms += drift.interval->low > 0 || drift.interval->high < 0 ? 1 : 0;
  }
  CHECK(alarms <= 12);
}

TEST_CASE("a single stall is not a drift, and few rounds give no estimate") {
  std::vector<double> values = rounds(20, 0, 3);
  values.back() += 3;
  CHECK(find_drift(values, 0.99).interval->low < 0);
  CHECK_FALSE(find_drift(rounds(9, 1, 3), 0.99).value.has_value());
  CHECK(*find_drift(std::vector<double>(12, -7.0), 0.99).value == 0);
}
