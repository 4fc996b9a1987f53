#include "cachebisect/bisect/evidence/findings.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/rounds.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/evidence/decision.hpp"
#include "cachebisect/bisect/record/boundary_levels.hpp"

using namespace cachebisect;
using test::block_of;

namespace {

/// Adds rounds of a chain whose log times are `levels`, with `noise` in each block and without the
/// boundaries in `skipped`.
void add_rounds(RoundTable& table, const std::vector<double>& levels, double noise, int count,
                RandomStream& random, const std::vector<int>& skipped = {}) {
  for (int round = 0; round < count; ++round) {
    for (int k = 0; k < static_cast<int>(levels.size()); ++k) {
      if (std::find(skipped.begin(), skipped.end(), k) != skipped.end()) continue;
      const double level = levels[static_cast<std::size_t>(k)];
      table.add(k, block_of(std::exp(level + noise * random.normal()), 1));
    }
    table.commit();
  }
}

}  // namespace

TEST_CASE("one quiet round is enough to use a boundary, one noisy round is not") {
  RandomStream random({.seed = 1});
  for (const auto& [noise, parts] : {std::pair{0.005, 3U}, {0.3, 1U}}) {
    RoundTable table = RoundTable::of_boundaries(3);
    add_rounds(table, {0.25, 0.25, 0, 0}, noise, 20, random, {1, 2});
    add_rounds(table, {0.25, 0.25, 0, 0}, noise, 1, random);
    PartEvidence evidence(table, 0.99);
    const Findings findings = assess(evidence, {});
    CHECK((findings.min_visits > 1) == (noise > 0.1));
    CHECK(findings.parts.size() == parts);
  }
}

TEST_CASE("a loss that stands out of the noise needs fewer visits than a small one") {
  const auto min_visits = [](double loss) {
    RandomStream random({.seed = 2});
    RoundTable table = RoundTable::of_boundaries(2);
    add_rounds(table, {loss, loss, 0}, 0.1, 40, random);
    PartEvidence evidence(table, 0.99);
    return assess(evidence, {}).min_visits;
  };
  CHECK(min_visits(0.8) < min_visits(0.3));
}

TEST_CASE("one long block in noise does not make a drop, many long blocks do") {
  for (const int stalls : {1, 12}) {
    RandomStream random({.seed = 3});
    RoundTable table = RoundTable::of_boundaries(2);
    for (int round = 0; round < 40; ++round) {
      const double stall = round < stalls ? 8 : 0;
      table.add(0, block_of(std::exp(0.25 * random.normal()), 1));
      table.add(1, block_of(std::exp(0.25 * random.normal()) + stall, 1));
      table.add(2, block_of(std::exp(0.25 * random.normal()), 1));
      table.commit();
    }
    PartEvidence evidence(table, 0.99);
    const Finding part = assess(evidence, {}).parts.at(1);
    REQUIRE(part.part == Part{1, 2});
    CHECK(part.drop > 0.1);
    CHECK((part.seeming_drop > 0.1) == (stalls > 1));
  }
}

TEST_CASE("the self-normalised excess of a mean is rarely above 2 under symmetric noise") {
  RandomStream random({.seed = 4});
  constexpr int kTrials = 2000;
  int above = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    RoundTable table = RoundTable::of_boundaries(1);
    for (int round = 0; round < 30; ++round) {
      const double heavy = 0.3 / std::max(0.01, random.uniform());
      const bool first = random.uniform() < 0.5;
      table.add(0, block_of(2 * (1 + (first ? heavy : 0)), 1));
      table.add(1, block_of(1 + (first ? 0 : heavy), 1));
      table.commit();
    }
    above += excess_of_mean(table, 0, 1, std::log(2)) > 2 ? 1 : 0;
  }
  CHECK(above <= 0.135 * kTrials);
  CHECK(above > 0);
}

TEST_CASE("a span measured in only a few noisy rounds does not delay a certified drop") {
  RandomStream random({.seed = 5});
  RoundTable table = RoundTable::of_boundaries(6);
  const std::vector<double> levels{0.5, 0.5, 0, 0, 0, 0, 0};
  add_rounds(table, levels, 0.25, 12, random);
  // One long block at boundary 3, which is no loss of stage 4.
  add_rounds(table, {0.5, 0.5, 0, 2.5, 0, 0, 0}, 0.25, 1, random);
  add_rounds(table, levels, 0.25, 150, random, {3, 4, 5});
  PartEvidence evidence(table, 0.99);
  const Findings findings = assess(evidence, {});
  const Decision decision = decide(findings, {0, 1, 2, 3, 4, 5, 6}, 0.05);
  CHECK(decision.kind == VerdictKind::drop);
  REQUIRE(decision.part);
  CHECK(findings.parts.at(*decision.part).part == Part{1, 2});
}

TEST_CASE(
    "stalls in live blocks alone rule out a flat verdict, stalls in ceiling blocks too do not") {
  const auto decide_with = [](double live_stall, double ceiling_stall) {
    RandomStream random({.seed = 6});
    RoundTable table = RoundTable::of_boundaries(1);
    for (int round = 0; round < 30; ++round) {
      const double again = round == 3 ? live_stall : 0;
      const double ceiling = round == 5 ? ceiling_stall : 0;
      table.add(0, block_of(0.05 * (1 + 0.01 * random.normal()), 1));
      table.add_again(0, block_of(0.05 * (1 + 0.01 * random.normal()) + again, 1));
      table.add(1, block_of(0.05 * (1 + 0.01 * random.normal()) + ceiling, 1));
      table.commit();
    }
    PartEvidence evidence(table, 0.99);
    return decide(assess(evidence, {}), {0, 1}, 0.05).kind;
  };
  CHECK(decide_with(0, 0) == VerdictKind::flat);
  CHECK(decide_with(0.1, 0) == VerdictKind::inconclusive);
  CHECK(decide_with(0.1, 0.05) == VerdictKind::flat);
}

TEST_CASE("a flat verdict needs a minimum of measured live seconds") {
  for (const auto& [seconds, kind] :
       {std::pair{0.01, VerdictKind::inconclusive}, {0.05, VerdictKind::flat}}) {
    RandomStream random({.seed = 7});
    RoundTable table = RoundTable::of_boundaries(1);
    for (int round = 0; round < 20; ++round) {
      table.add(0, block_of(seconds * (1 + 0.001 * random.normal()), 1));
      table.add(1, block_of(seconds * (1 + 0.001 * random.normal()), 1));
      table.commit();
    }
    PartEvidence evidence(table, 0.99);
    CHECK(decide(assess(evidence, {}), {0, 1}, 0.05).kind == kind);
  }
}

TEST_CASE("an interval holds what stalls that were met too seldom may cost") {
  // One live block of twelve takes ten times as long: a loss of 43% by the mean, and four stalls
  // are too few to know it well.
  RandomStream random({.seed = 9});
  RoundTable table = RoundTable::of_boundaries(1);
  for (int round = 0; round < 48; ++round) {
    table.add(0, block_of((round % 12 == 0 ? 10 : 1) * std::exp(0.01 * random.normal()), 1));
    table.add(1, block_of(std::exp(0.01 * random.normal()), 1));
    table.commit();
  }
  PartEvidence evidence(table, 0.99);
  const Finding whole = assess(evidence, {}).whole;
  CHECK(whole.median_drop < 0.01);
  CHECK(whole.drop == doctest::Approx(1 - 1 / 1.75).epsilon(0.03));
  // At most 12.6 stalls were to be expected where four were met.
  CHECK(whole.high == doctest::Approx(1 - 1 / (1 + 0.75 * 12.6 / 4)).epsilon(0.03));
}

TEST_CASE("a steady stage does not lead while stalls of another one cost more by the mean") {
  // Boundary 1 stalls in one round of eight: 20% by the mean. The stage after it costs 10%.
  const auto decided = [](int rounds, double stall) {
    RandomStream random({.seed = 11});
    RoundTable table = RoundTable::of_boundaries(2);
    for (int round = 0; round < rounds; ++round) {
      const auto noisy = [&](double seconds) {
        return block_of(seconds * std::exp(0.01 * random.normal()), 1);
      };
      table.add(0, noisy(1.1 + (round % 8 == 4 ? stall : 0)));
      table.add(1, noisy(1.1));
      table.add(2, noisy(1));
      table.commit();
    }
    PartEvidence evidence(table, 0.99);
    const Findings findings = assess(evidence, {});
    return std::pair{findings, decide(findings, {0, 1, 2}, 0.05)};
  };
  const auto [open, nothing] = decided(24, 2.2);
  REQUIRE(open.leader.has_value());
  CHECK(*open.leader == 1);
  REQUIRE(open.challenger.has_value());
  CHECK(*open.challenger == 0);
  CHECK(nothing.kind == VerdictKind::inconclusive);
  // Stalls that cost less than the steady stage change nothing.
  CHECK(decided(24, 0.4).second.kind == VerdictKind::drop);
  // So many of them are certain.
  const auto [all, stalls] = decided(400, 2.2);
  CHECK(stalls.kind == VerdictKind::drop);
  CHECK(*stalls.part == 0);
}

TEST_CASE("of two certified stages the one with the larger mean leads") {
  RandomStream random({.seed = 12});
  RoundTable table = RoundTable::of_boundaries(2);
  for (int round = 0; round < 60; ++round) {
    const auto noisy = [&](double seconds) {
      return block_of(seconds * std::exp(0.01 * random.normal()), 1);
    };
    table.add(0, noisy(1.4 + (round % 4 == 2 ? 1.0 : 0)));
    table.add(1, noisy(1.2));
    table.add(2, noisy(0.95));
    table.commit();
  }
  PartEvidence evidence(table, 0.99);
  const Findings findings = assess(evidence, {});
  REQUIRE(findings.leader.has_value());
  CHECK(findings.parts[1].low > 0.05);
  CHECK(*findings.leader == 0);
  CHECK(findings.parts[0].by_mean);
}

TEST_CASE("stalls that certify nothing yet say how many rounds would") {
  RandomStream random({.seed = 10});
  const auto assessed = [&](int rounds) {
    RoundTable table = RoundTable::of_boundaries(1);
    for (int round = 0; round < rounds; ++round) {
      table.add(0, block_of((round % 12 == 6 ? 30 : 1) * std::exp(0.01 * random.normal()), 1));
      table.add(1, block_of(std::exp(0.01 * random.normal()), 1));
      table.commit();
    }
    PartEvidence evidence(table, 0.99);
    return assess(evidence, {}).parts.at(0);
  };
  const Finding open = assessed(48);
  CHECK_FALSE(open.stalls);
  CHECK(open.rounds_to_certify_stalls > 100);
  CHECK(open.rounds_to_certify_stalls < 400);
  CHECK(assessed(static_cast<int>(1.1 * open.rounds_to_certify_stalls)).stalls);
}
