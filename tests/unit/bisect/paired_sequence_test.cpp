#include "cachebisect/bisect/evidence/paired_sequence.hpp"

#include <cmath>

#include "support/narrowing.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;

namespace {

constexpr double kLeaderThreshold = 2 / (0.01 * 0.5);

enum class DrawnShape { normal, heavy, skewed_blocks };

/// d of a pair of blocks whose true log drop is theta; both blocks have the same kind of noise.
double draw(RandomStream& random, double theta, double cv, DrawnShape shape) {
  const auto block = [&] {
    switch (shape) {
      case DrawnShape::normal:
        return cv * random.normal();
      case DrawnShape::heavy:
        return cv * random.normal() / std::max(0.05, random.uniform());
      case DrawnShape::skewed_blocks:
        return -cv * std::log(1 - random.uniform());
    }
    return 0.0;
  };
  const double upstream = block();
  return theta + upstream - block();
}

}  // namespace

TEST_CASE("drop_to_theta and theta_to_drop are inverse to each other") {
  CHECK(drop_to_theta(0.5) == doctest::Approx(std::log(2)));
  CHECK(theta_to_drop(drop_to_theta(0.2)) == doctest::Approx(0.2));
  CHECK(theta_to_drop(-0.1) < 0);
}

TEST_CASE("the e-process equals a calculation by hand") {
  PairedSequence evidence(400);
  evidence.add(0.5);
  evidence.add(0.7);
  // The first two rounds have no scale: the bets use the sign alone.
  CHECK(evidence.evidence_above(0.1) == doctest::Approx(0.35 * 1.98 * 1.98 + 0.65));
  CHECK(evidence.evidence_below(0.1) == doctest::Approx(1));
  evidence.add(0.6);
  const double u = std::tanh(0.5 / (1.2 * 0.2 * 3));
  double expected = 0.35 * 1.98 * 1.98 * 1.98;
  for (const double stake : {0.08, 0.2, 0.4, 0.65, 0.9}) expected += 0.13 * (1 + stake * u);
  CHECK(evidence.evidence_above(0.1) == doctest::Approx(expected));
  CHECK(evidence.scale() == doctest::Approx(0.1));
}

TEST_CASE("a true null is rejected in at most 1% of the runs, however often it is checked") {
  for (const DrawnShape shape :
       {DrawnShape::normal, DrawnShape::heavy, DrawnShape::skewed_blocks}) {
    RandomStream random({.seed = 11, .index = static_cast<std::uint64_t>(shape)});
    int rejected = 0;
    constexpr int kTrials = 1500;
    for (int trial = 0; trial < kTrials; ++trial) {
      PairedSequence evidence(2 / 0.01);
      for (int round = 0; round < 60; ++round) evidence.add(draw(random, 0.05, 0.03, shape));
      rejected += evidence.rejects_at_most(0.05) || evidence.rejects_at_least(0.05) ? 1 : 0;
    }
    CHECK(rejected <= kTrials / 100);
  }
}

TEST_CASE("intervals cover the truth and never widen") {
  RandomStream random({.seed = 5});
  int covered = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    PairedSequence evidence(kLeaderThreshold);
    const Interval last = test::narrowed_interval(
        evidence, 30, [&] { evidence.add(draw(random, 0.3, 0.02, DrawnShape::normal)); });
    covered += last.low <= 0.3 && 0.3 <= last.high ? 1 : 0;
    REQUIRE(last.high - last.low < 0.2);
  }
  CHECK(covered >= kTrials * 99 / 100);
}

TEST_CASE("a strong drop in little noise is certified in about eleven rounds") {
  RandomStream random({.seed = 3});
  for (int trial = 0; trial < 50; ++trial) {
    PairedSequence evidence(kLeaderThreshold);
    while (evidence.rounds() < 20 && !evidence.rejects_at_most(drop_to_theta(0.05))) {
      evidence.add(draw(random, drop_to_theta(0.4), 0.01, DrawnShape::normal));
    }
    REQUIRE(evidence.rounds() >= 9);  // bets at most double: log2(400) rounds
    REQUIRE(evidence.rounds() <= 12);
  }
}

TEST_CASE("identical rounds give the narrowest interval that is printed") {
  PairedSequence evidence(kLeaderThreshold);
  CHECK_FALSE(evidence.drop_interval().has_value());
  for (int round = 0; round < 40; ++round) evidence.add(drop_to_theta(0.25));
  const auto interval = evidence.drop_interval();
  REQUIRE(interval.has_value());
  CHECK(interval->low == doctest::Approx(0.248).epsilon(1e-3));
  CHECK(interval->high == doctest::Approx(0.252).epsilon(1e-3));
}
