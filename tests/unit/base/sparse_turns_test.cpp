#include "cachebisect/base/sparse_turns.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace cachebisect;  // NOLINT(google-build-using-namespace)

TEST_CASE("one turn of each stretch is observed, all with equal probability") {
  constexpr std::uint32_t kStretch = 7;
  constexpr int kStretches = 70000;
  SparseTurns turns(3);
  turns.reset();
  REQUIRE(turns.next());
  turns.set_stretch(kStretch);
  std::vector<int> looked_at(kStretch, 0);
  for (int stretch = 0; stretch < kStretches; ++stretch) {
    int looks = 0;
    for (std::uint32_t place = 0; place < kStretch; ++place) {
      if (!turns.next()) continue;
      CHECK(turns.weight() == kStretch);
      turns.set_stretch(kStretch);
      ++looked_at[place];
      ++looks;
    }
    REQUIRE(looks == 1);
  }
  const double expected = kStretches / static_cast<double>(kStretch);
  for (const int count : looked_at) CHECK(std::abs(count - expected) < 5 * std::sqrt(expected));
}

TEST_CASE("stretches of any length leave no turn out") {
  SparseTurns turns(1);
  turns.reset(2);
  std::uint32_t next = 1;
  double stood_for = 0;
  int turn = 0;
  for (; turn < 10000; ++turn) {
    if (!turns.next()) continue;
    stood_for += turns.weight();
    turns.set_stretch(next);
    next = next % 50 + 1;
  }
  // All except the two skipped turns and the rest of the last two stretches.
  CHECK(stood_for <= turn - 2 + 50);
  CHECK(stood_for >= turn - 2 - 50);
}

TEST_CASE("two seeds observe different turns") {
  SparseTurns one(1);
  SparseTurns other(2);
  one.reset();
  other.reset();
  int together = 0;
  for (int turn = 0; turn < 100000; ++turn) {
    const bool first = one.next();
    const bool second = other.next();
    if (first) one.set_stretch(100);
    if (second) other.set_stretch(100);
    together += static_cast<int>(first && second);
  }
  CHECK(together < 40);
}

TEST_CASE("the cost of an observation sets the length of a stretch") {
  CHECK(affordable_stretch(100e-9, 0.001, 1e-3) == 1);
  CHECK(affordable_stretch(1e-6, 0.001, 1e-6) == 1000);
  CHECK(affordable_stretch(1.5e-6, 0.001, 1e-6) == 1500);
  CHECK(affordable_stretch(1, 0.001, 1e-9) == 65536);
  CHECK(affordable_stretch(1e-6, 0.001, 0) == 1);
}
