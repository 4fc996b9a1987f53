#include "cachebisect/bisect/evidence/part_evidence.hpp"

#include <cmath>

#include "support/rounds.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/boundary_levels.hpp"

using namespace cachebisect;
using test::block_of;

TEST_CASE("levels keep the losses of spans that many rounds measured") {
  RoundTable table = RoundTable::of_boundaries(2);
  for (int round = 0; round < 20; ++round) {
    table.add(0, block_of(4, 1));
    table.add(2, block_of(1, 1));
    // Measured once, and slower than the losses on both sides suggest.
    if (round == 0) table.add(1, block_of(3, 1));
    table.commit();
  }
  const auto levels = boundary_levels(table);
  CHECK(levels[0].value() == doctest::Approx(std::log(4)));
  CHECK(levels[1].value() == doctest::Approx(std::log(3)));
  CHECK(levels[2].value() == doctest::Approx(0));
  CHECK(visited_around(table, 0, 1, 1) == std::pair{1, 1});
  CHECK(visited_around(table, 1, 1, 1) == std::pair{0, 2});
}

TEST_CASE("a stage is wrongly excluded in at most half of alpha of the runs, however spans open") {
  // Stage 2 of 4 loses 10%, the others nothing; boundary 1 opens after each fast live block.
  RandomStream random({.seed = 8});
  const double theta = drop_to_theta(0.1);
  constexpr int kTrials = 1000;
  int excluded = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    RoundTable table = RoundTable::of_boundaries(4);
    PartEvidence evidence(table, 0.9);
    bool inner = false;
    for (int round = 0; round < 40; ++round) {
      const auto add = [&](int k) {
        table.add(k, block_of(std::exp((k < 2 ? theta : 0) + 0.02 * random.normal()), 1));
      };
      add(0);
      add(4);
      if (inner) add(1);
      if (inner || round % 3 == 0) add(2);
      table.commit();
      inner = table.log_tau(table.rounds() - 1, 0).value() < theta;
    }
    excluded += evidence.cover({1, 2}).rejects_at_least(theta) ? 1 : 0;
  }
  CHECK(excluded <= kTrials * 5 / 100);
  CHECK(excluded > 0);
}
