#include "cachebisect/bisect/evidence/stall_evidence.hpp"

#include <cmath>
#include <functional>

#include "support/rounds.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using test::block_of;

namespace {

constexpr double kMinDrop = 0.05;

/// One round: 100 samples of 1 s each below, and `upstream` s each above.
void add_round(RoundTable& table, double upstream, double downstream = 1) {
  table.add(0, block_of(100 * upstream, 100));
  table.add(1, block_of(100 * downstream, 100));
  table.commit();
}

double evidence(const RoundTable& table) {
  return log_stall_evidence(table, 0, 1, -std::log1p(-kMinDrop));
}

/// Share of 2,000 runs of 120 rounds in which the evidence ever reaches log(100).
double ever_rejects(const std::function<double(RandomStream&)>& upstream, double downstream_cv) {
  constexpr int kRuns = 2000;
  RandomStream random({.seed = 11});
  int rejected = 0;
  for (int run = 0; run < kRuns; ++run) {
    RoundTable table = RoundTable::of_boundaries(1);
    for (int round = 0; round < 120; ++round) {
      add_round(table, upstream(random), 1 + downstream_cv * random.normal());
      if (round % 6 == 5 && evidence(table) >= std::log(100)) {
        ++rejected;
        break;
      }
    }
  }
  return static_cast<double>(rejected) / kRuns;
}

}  // namespace

TEST_CASE("rare stalls at the limit are certified no more often than the error allows") {
  for (const double chance : {0.02, 0.1, 0.3}) {
    CAPTURE(chance);
    // The mean is that of a drop of 5%.
    const double stall = (1 / (1 - kMinDrop) - 1) / chance;
    CHECK(ever_rejects(
              [&](RandomStream& random) { return 1 + (random.uniform() < chance ? stall : 0); },
              0.01) <= 0.01);
  }
}

TEST_CASE("symmetric noise of heavy tails is certified no more often than the error allows") {
  const auto noise = [](RandomStream& random) {
    const double size = random.uniform() < 0.1 ? 0.8 : 0.05;
    return 1 / (1 - kMinDrop) + size * (random.below(2) == 0 ? 1 : -1);
  };
  CHECK(ever_rejects(noise, 0.05) <= 0.01);
}

TEST_CASE("eleven stalls of one size certify a stage, and eight do not") {
  RoundTable table = RoundTable::of_boundaries(1);
  for (int stall = 1; stall <= 11; ++stall) {
    for (int round = 0; round < 8; ++round) add_round(table, 1.001);
    add_round(table, 10);
    if (stall == 8) CHECK(evidence(table) < std::log(222));
  }
  CHECK(evidence(table) >= std::log(222));
  CHECK(log_stall_evidence(table, 1, 0, 0) == 0);
}

TEST_CASE("stalls in the other arm speak against it, and none of them ends the bet") {
  RoundTable table = RoundTable::of_boundaries(1);
  for (int round = 0; round < 20; ++round) add_round(table, round % 2 == 0 ? 10 : 1);
  const double before = evidence(table);
  add_round(table, 1, 1e6);
  CHECK(evidence(table) < before - 3);
  CHECK(evidence(table) > before - 5);
  CHECK(evidence(RoundTable::of_boundaries(1)) == 0);
}
