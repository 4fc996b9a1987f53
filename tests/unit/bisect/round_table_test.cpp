#include "cachebisect/bisect/record/round_table.hpp"

#include <cmath>

#include "support/rounds.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/evidence/decision.hpp"
#include "cachebisect/bisect/evidence/power.hpp"
#include "cachebisect/bisect/record/boundary_levels.hpp"

using namespace cachebisect;
using test::block_of;

namespace {

/// Adds rounds of 100 samples with exact times: `taus` by boundary.
void add_rounds(RoundTable& table, const std::vector<double>& taus, int count) {
  for (int round = 0; round < count; ++round) {
    const double wobble = 1 + 1e-3 * (round % 3);
    for (std::size_t k = 0; k < taus.size(); ++k) {
      if (taus[k] > 0) table.add(static_cast<int>(k), block_of(100 * taus[k] * wobble, 100));
    }
    table.commit();
  }
}

Decision decide_on(const std::vector<double>& taus, int rounds) {
  RoundTable table = RoundTable::of_boundaries(static_cast<int>(taus.size()) - 1);
  add_rounds(table, taus, rounds);
  PartEvidence evidence(table, 0.99);
  const Findings findings = assess(evidence, {});
  std::vector<int> candidates;
  for (std::size_t k = 0; k < taus.size(); ++k) candidates.push_back(static_cast<int>(k));
  return decide(findings, candidates, 0.05);
}

}  // namespace

TEST_CASE("an incomplete round leaves no trace") {
  RoundTable table = RoundTable::of_boundaries(2);
  table.add(0, block_of(1, 10));
  table.discard();
  CHECK(table.rounds() == 0);
  add_rounds(table, {2, 0, 1}, 2);
  CHECK(visited_boundaries(table) == std::vector<int>{0, 2});
  CHECK_FALSE(table.log_tau(0, 1).has_value());
  CHECK(*table.log_tau(0, 0) == doctest::Approx(std::log(2)));
}

TEST_CASE("a boundary that missed slow rounds does not seem faster for it") {
  RoundTable table = RoundTable::of_boundaries(2);
  add_rounds(table, {4, 2, 1}, 3);
  add_rounds(table, {8, 0, 2}, 3);  // the machine is half as fast now, and 1 is closed
  CHECK(table.tau(0) == doctest::Approx(6).epsilon(0.01));
  CHECK(table.tau(1) == doctest::Approx(3).epsilon(0.01));
  CHECK(table.tau(2) == doctest::Approx(1.5).epsilon(0.01));
}

TEST_CASE("a boundary is as slow as the nearer of live and ceiling in the rounds that it missed") {
  // The step becomes twice as fast, and live does not: stages limit it.
  for (const bool late : {false, true}) {
    RoundTable table = RoundTable::of_boundaries(3);
    add_rounds(table, {4, late ? 0.0 : 4.0, late ? 0.0 : 1.02, 1}, 3);
    add_rounds(table, {4, late ? 4.0 : 0.0, late ? 0.51 : 0.0, 0.5}, 3);
    CHECK(table.tau(1) == doctest::Approx(table.tau(0)).epsilon(0.01));
    CHECK(table.tau(2) == doctest::Approx(1.02 * table.tau(3)).epsilon(0.01));
  }
}

TEST_CASE("a ratio that changed in mid-run has no interval") {
  RandomStream random({.seed = 2});
  RoundTable table = RoundTable::of_boundaries(1);
  const auto add = [&](double slow, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      table.add(0, block_of(slow * std::exp(0.01 * random.normal()), 1), i % kUsualRepeats);
      table.add(1, block_of(std::exp(0.01 * random.normal()), 1), i % kUsualRepeats);
      if (i % kUsualRepeats == kUsualRepeats - 1) table.commit();
    }
  };
  add(2, 30);
  CHECK(log_ratio(table, 0, 1, 0.01).interval.has_value());
  add(4, 60);
  CHECK_FALSE(log_ratio(table, 0, 1, 0.01).interval.has_value());
}

TEST_CASE("a second block of a round counts for the mean, not as evidence") {
  RoundTable table = RoundTable::of_boundaries(1);
  for (int round = 0; round < 2; ++round) {
    table.add(0, block_of(2, 1));
    table.add(1, block_of(1, 1));
    if (round == 0) table.add_again(0, block_of(6, 1));
    table.commit();
  }
  CHECK(table.tau(0) == doctest::Approx((4.0 + 2.0) / 2));
  CHECK(*table.log_tau(0, 0) == doctest::Approx(std::log(2)));
  CHECK(table.all_block_taus(0) == std::vector<double>{2, 2, 6});
  CHECK(table.seconds(0) == doctest::Approx(10));
}

TEST_CASE("of a super-round that ended early as many rounds count as both ends have blocks") {
  RoundTable table = RoundTable::of_boundaries(2);
  // By chance the ends' blocks are of different rounds.
  table.add(0, block_of(2, 1), 2);
  table.add(0, block_of(3, 1), 0);
  table.add(1, block_of(2, 1), 1);
  table.add(2, block_of(1, 1), 1);
  table.commit_unfinished();
  REQUIRE(table.rounds() == 1);
  CHECK(table.visited(1));
  CHECK(table.super_rounds().empty());
  CHECK(log_ratio(table, 0, 2, 0.01).value > 0);
  // A central boundary may be missing; without one of the ends there is no round.
  table.add(0, block_of(2, 1), 1);
  table.add(2, block_of(1, 1), 1);
  table.commit_unfinished();
  table.add(0, block_of(2, 1), 1);
  table.add(1, block_of(2, 1), 1);
  table.commit_unfinished();
  CHECK(table.rounds() == 2);
  CHECK(table.visits(1) == 1);
}

TEST_CASE("the verdict is the first one that holds") {
  CHECK(decide_on({2, 1.2, 1.1, 1}, 30).kind == VerdictKind::drop);
  CHECK(*decide_on({2, 1.2, 1.1, 1}, 30).part == 0);
  CHECK(decide_on({1.02, 1.01, 1.0, 1}, 30).kind == VerdictKind::flat);
  CHECK(decide_on({1.16, 1.12, 1.08, 1.04, 1}, 30).kind == VerdictKind::spread);
  // An anomaly comes before the drop next to it.
  CHECK(decide_on({2, 1.0, 1.1, 1}, 30).kind == VerdictKind::anomaly);
  CHECK(*decide_on({2, 1.0, 1.1, 1}, 30).part == 1);
  // One elsewhere hides no drop.
  CHECK(decide_on({2, 1, 0.9, 1.0, 0.9}, 30).kind == VerdictKind::drop);
  CHECK(*decide_on({2, 1, 0.9, 1.0, 0.9}, 30).part == 0);
  CHECK(decide_on({2, 1.2, 1.1, 1}, 5).kind == VerdictKind::inconclusive);
}

TEST_CASE("stages of equal cost are rivals, others are not") {
  CHECK_FALSE(decide_on({3, 2, 1}, 30).settled);
  CHECK(decide_on({4, 1.5, 1.2}, 30).settled);
}

TEST_CASE("the stage that costs most seconds leads, not the one with the largest drop") {
  // Waits of 10.0, 7.2 and 5.5 in this order, in front of a step of 5: drops of 36, 41 and 52%.
  const Decision decision = decide_on({27.7, 17.7, 10.5, 5}, 30);
  CHECK(decision.kind == VerdictKind::drop);
  CHECK(*decision.part == 0);
  CHECK(decision.settled);
}

TEST_CASE("the fewest stages that make up half of the loss are found") {
  RoundTable table = RoundTable::of_boundaries(4);
  add_rounds(table, {1.2, 1.18, 1.1, 1.01, 1}, 20);
  PartEvidence evidence(table, 0.99);
  const Findings findings = assess(evidence, {});
  CHECK(half_of_loss(findings) == std::vector<std::size_t>{2, 1});
}

TEST_CASE("no test needs fewer rounds than bets that double") {
  const Power power{.sigma = 0.02, .alpha = 0.01, .weight = 0.5};
  CHECK(power.min_rounds() >= 9);
  CHECK(power.min_rounds() <= 12);
  CHECK_FALSE(power.distance_in(5).has_value());
  CHECK(*power.distance_in(100) < *power.distance_in(20));
  CHECK(power.rounds_for(0.001) > power.rounds_for(0.01));
  CHECK(power.rounds_for(0) <= 1000000);
}

TEST_CASE("a table with other columns keeps the rounds of the arms that both have") {
  RoundTable table = RoundTable::of_boundaries(2);
  add_rounds(table, {4, 0, 1}, 3);
  const Arm shadow{.kind = ArmKind::shadow};
  const RoundTable other = table.with_arms({{.boundary = 2}, shadow, {.boundary = 0}});
  REQUIRE(other.rounds() == 3);
  CHECK(other.find(shadow) == 1);
  CHECK(other.visits(0) == 3);
  CHECK(other.visits(1) == 0);
  CHECK(other.log_ratios(2, 0) == table.log_ratios(0, 2));
  CHECK(other.totals(2).samples == table.totals(0).samples);
  CHECK(other.tau(0) == doctest::Approx(table.tau(2)));
}
