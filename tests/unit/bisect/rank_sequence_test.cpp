#include "cachebisect/bisect/evidence/rank_sequence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "support/narrowing.hpp"
#include "support/sanitized.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/shuffle.hpp"

using namespace cachebisect;

namespace {

constexpr double kSuspectThreshold = 2 / (0.01 * 0.9);

/// What the machine adds to log seconds, slot by slot.
enum class MachineNoise { white, heavy, skewed, trend, walk };
constexpr std::array kMachineNoises{MachineNoise::white, MachineNoise::heavy, MachineNoise::skewed,
                                    MachineNoise::trend, MachineNoise::walk};

class DisturbedMachine {
 public:
  DisturbedMachine(RandomStream& random, MachineNoise noise, double cv)
      : random_(&random), noise_(noise), cv_(cv) {}

  double next() {
    ++slot_;
    const double white = cv_ * random_->normal();
    switch (noise_) {
      case MachineNoise::white:
        return white;
      case MachineNoise::heavy:
        return white / std::max(0.05, random_->uniform());
      case MachineNoise::skewed:
        return -cv_ * std::log(1 - random_->uniform());
      case MachineNoise::trend:
        return 0.1 * white + 0.01 * slot_;
      case MachineNoise::walk:
        walked_ += white;
        return walked_;
    }
    return 0;
  }

 private:
  RandomStream* random_;
  MachineNoise noise_;
  double cv_;
  double walked_ = 0;
  int slot_ = 0;
};

/// A super-round of two arms among blocks of others, in one random order.
void add_super_round(RankSequence& evidence, RandomStream& random, DisturbedMachine& machine,
                     double theta, int repeats = kUsualRepeats) {
  struct Block {
    int arm;
    int repeat;
  };
  std::vector<Block> order;
  for (int arm = 0; arm < 4; ++arm) {
    for (int repeat = 0; repeat < repeats; ++repeat) order.push_back({arm, repeat});
  }
  shuffle(order, random);
  std::array<std::vector<double>, 2> log_taus;
  log_taus.fill(std::vector<double>(static_cast<std::size_t>(repeats)));
  for (const Block& block : order) {
    const double noise = machine.next();
    if (block.arm > 1) continue;
    const double level = block.arm == 0 ? theta : 0;
    log_taus.at(static_cast<std::size_t>(block.arm))[static_cast<std::size_t>(block.repeat)] =
        level + noise;
  }
  evidence.add(log_taus[0], log_taus[1]);
}

}  // namespace

TEST_CASE("under the null the mean of each factor over all orders is 1") {
  // 2 U of the 20 ways to share six slots, and of six, and of two.
  const std::vector<std::vector<int>> twice_u{
      {0, 2}, {0, 2, 4, 4, 6, 8}, {0,  2,  4,  4,  6,  6,  6,  8,  8,  8,
                                   10, 10, 10, 12, 12, 12, 14, 14, 16, 18}};
  for (std::size_t m = 1; m <= twice_u.size(); ++m) {
    double sum = 0;
    for (const int u : twice_u[m - 1]) {
      RankBets bets;
      bets.settle(static_cast<int>(m), u);
      sum += bets.capital();
    }
    CHECK(sum / static_cast<double>(twice_u[m - 1].size()) == doctest::Approx(1));
  }
}

TEST_CASE("ties do not win more than their share") {
  // All six are equal: the middle of U.
  RankBets bets;
  bets.settle(3, 9);
  CHECK(bets.capital() <= 1);
}

TEST_CASE("two super-rounds that agree in every pair certify for a suspect, three for others") {
  RankSequence evidence(kSuspectThreshold);
  const std::array<double, 3> slow{0.50, 0.51, 0.49};
  const std::array<double, 3> fast{0, 0.01, -0.01};
  evidence.add(slow, fast);
  CHECK_FALSE(evidence.rejects_at_most(0.05));
  evidence.add(slow, fast);
  CHECK(evidence.rejects_at_most(0.05));
  CHECK(evidence.rejects_at_least(0.95));
  CHECK(evidence.rounds() == 6);
  const Interval interval = evidence.interval();
  CHECK(interval.low == doctest::Approx(0.48).epsilon(1e-3));
  CHECK(interval.high == doctest::Approx(0.52).epsilon(1e-3));
}

TEST_CASE("one super-round of six certifies at 1 / 400 if every pair agrees") {
  RankSequence evidence(400);
  const std::array<double, 6> slow{0.50, 0.51, 0.49, 0.52, 0.48, 0.5};
  const std::array<double, 6> fast{0, 0.01, -0.01, 0.02, -0.02, 0};
  evidence.add(slow, fast);
  CHECK(evidence.rejects_at_most(0.4));
  CHECK(evidence.rejects_at_least(0.6));
}

TEST_CASE("a smaller log drop never makes the evidence above a theta larger") {
  RandomStream random({.seed = 4});
  for (int trial = 0; trial < 200; ++trial) {
    std::array<double, 3> slow{};
    std::array<double, 3> fast{};
    for (double& value : slow) value = random.normal();
    for (double& value : fast) value = random.normal();
    double last = 0;
    for (double shift = -3; shift <= 3; shift += 0.25) {
      std::array<double, 3> shifted = slow;
      for (double& value : shifted) value += shift;
      RankSequence evidence(100);
      evidence.add(shifted, fast);
      REQUIRE(evidence.evidence_above(0) >= last);
      last = evidence.evidence_above(0);
    }
  }
}

TEST_CASE("a true null is rejected in at most 1% of the runs, whatever the machine does") {
  for (const MachineNoise noise : kMachineNoises) {
    CAPTURE(static_cast<int>(noise));
    for (const int repeats : {1, 2, 3, 6}) {
      RandomStream random({.seed = 12, .index = static_cast<std::uint64_t>(noise)});
      int rejected = 0;
      constexpr int kTrials = test::kIsSanitized ? 600 : 1500;
      for (int trial = 0; trial < kTrials; ++trial) {
        DisturbedMachine machine(random, noise, 0.03);
        RankSequence evidence(2 / 0.01);
        for (int i = 0; i < 20; ++i) add_super_round(evidence, random, machine, 0.05, repeats);
        rejected += evidence.rejects_at_most(0.05) || evidence.rejects_at_least(0.05) ? 1 : 0;
      }
      CHECK(rejected <= kTrials / 100);
    }
  }
}

TEST_CASE("intervals of ranks cover the truth and never widen") {
  RandomStream random({.seed = 6});
  int covered = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    DisturbedMachine machine(random, MachineNoise::white, 0.02);
    RankSequence evidence(kSuspectThreshold);
    const Interval last = test::narrowed_interval(
        evidence, 10, [&] { add_super_round(evidence, random, machine, 0.3); });
    covered += last.low <= 0.3 && 0.3 <= last.high ? 1 : 0;
    REQUIRE(last.high - last.low < 0.15);
  }
  CHECK(covered >= kTrials * 99 / 100);
}

TEST_CASE("a strong drop in little noise is certified after two super-rounds") {
  RandomStream random({.seed = 3});
  for (int trial = 0; trial < 50; ++trial) {
    DisturbedMachine machine(random, MachineNoise::white, 0.01);
    RankSequence evidence(kSuspectThreshold);
    add_super_round(evidence, random, machine, drop_to_theta(0.4));
    REQUIRE_FALSE(evidence.rejects_at_most(drop_to_theta(0.05)));
    add_super_round(evidence, random, machine, drop_to_theta(0.4));
    REQUIRE(evidence.rejects_at_most(drop_to_theta(0.05)));
  }
}

TEST_CASE("a round that is no evidence counts for the centre alone") {
  RankSequence evidence(kSuspectThreshold);
  evidence.add_value_only(0.2);
  evidence.add_value_only(0.4);
  CHECK(evidence.rounds() == 2);
  CHECK(evidence.centre() == doctest::Approx(0.3));
  CHECK(evidence.evidence_above(0) == doctest::Approx(1));
}
