#include "cachebisect/bisect/evidence/ledger.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;

TEST_CASE("levels keep the losses of spans that many rounds measured") {
  RoundTable table(2);
  for (int round = 0; round < 20; ++round) {
    table.add(0, 4, 1);
    table.add(2, 1, 1);
    // Seen once, and half as long again as it should be against both of its neighbours.
    if (round == 0) table.add(1, 3, 1);
    table.commit();
  }
  const auto levels = table.levels();
  CHECK(levels[0].value() == doctest::Approx(std::log(4)));
  CHECK(levels[1].value() == doctest::Approx(std::log(3)));
  CHECK(levels[2].value() == doctest::Approx(0));
  CHECK(table.visited_around(0, 1, 1) == std::pair{1, 1});
  CHECK(table.visited_around(1, 1, 1) == std::pair{0, 2});
}

TEST_CASE("a stage is excluded wrongly at half of alpha or less, however spans are opened") {
  // Stage 2 of 4 loses 10%, the others nothing; boundaries 1 to 3 open where the last round drew
  // the eye.
  RandomStream random({.seed = 8});
  const double theta = drop_to_theta(0.1);
  constexpr int kTrials = 1000;
  int excluded = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    RoundTable table(4);
    Ledger ledger(table, 0.9);
    bool inner = false;
    for (int round = 0; round < 40; ++round) {
      const auto add = [&](int k) {
        table.add(k, std::exp((k < 2 ? theta : 0) + 0.02 * random.normal()), 1);
      };
      add(0);
      add(4);
      if (inner) add(1);
      if (inner || round % 3 == 0) add(2);
      table.commit();
      inner = table.log_tau(table.rounds() - 1, 0).value() < theta;
    }
    excluded += ledger.cover({1, 2}).rejects_at_least(theta) ? 1 : 0;
  }
  CHECK(excluded <= kTrials * 5 / 100);
  CHECK(excluded > 0);
}
