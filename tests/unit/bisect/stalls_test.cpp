#include "cachebisect/bisect/evidence/stalls.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/base/statistics.hpp"

using namespace cachebisect;

TEST_CASE("the mean of rare stalls stays below its limit as often as it claims") {
  constexpr int kTrials = 2000;
  constexpr double kConfidence = 0.99;
  RandomStream random({.seed = 7});
  for (const double chance : {0.05, 0.2}) {
    const double truth = 1 + chance * 9;
    int missed = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> taus;
      bool stalled = false;
      for (int block = 0; block < 60; ++block) {
        const bool stall = random.uniform() < chance;
        stalled = stalled || stall;
        taus.push_back((stall ? 10 : 1) * (1 + 0.01 * random.normal()));
      }
      const double limit = stalled_mean_limit(taus, kConfidence);
      CHECK((limit > 1) == stalled);
      // Stalls that never happened are not foreseen.
      if (stalled && mean(taus) * limit < truth) ++missed;
    }
    CAPTURE(chance);
    CHECK(missed < 2 * (1 - kConfidence) * kTrials);
  }
}

TEST_CASE("noise alone is no stall, and a few large stalls count as few") {
  std::vector<double> noise;
  RandomStream random({.seed = 8});
  for (int i = 0; i < 50; ++i) noise.push_back(1 + 0.05 * random.uniform());
  CHECK(stalled_mean_limit(noise, 0.99) == 1);
  CHECK(stalled_mean_limit({}, 0.99) == 1);
  std::vector<double> equal = noise;
  std::vector<double> unequal = noise;
  for (int i = 0; i < 5; ++i) {
    equal.push_back(3);
    unequal.push_back(i == 0 ? 10 : 1.25);
  }
  const auto added = [](const std::vector<double>& taus) {
    return (stalled_mean_limit(taus, 0.99) - 1) * mean(taus);
  };
  CHECK(added(unequal) > 1.5 * added(equal));
}
