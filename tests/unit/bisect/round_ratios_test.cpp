#include "cachebisect/bisect/costs/round_ratios.hpp"

#include <cmath>

#include "support/rounds.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

constexpr int kRounds = 40;

/// Boundaries 0 and 1 of a chain of one stage: seconds per sample by round.
struct Table {
  std::vector<double> live = std::vector<double>(kRounds, 1e-3);
  std::vector<double> cached = std::vector<double>(kRounds, 0.5e-3);
};

/// Boundaries 0 and 1, and one that is never visited.
Measurements measured_of(const Table& times) {
  Measurements measured;
  RoundTable& table = measured.verdict.table = RoundTable::of_boundaries(2);
  for (std::size_t i = 0; i < times.live.size(); ++i) {
    const double taus[] = {times.live[i], times.cached[i]};
    for (const int k : {0, 1}) {
      const BlockResult block = test::block_of(100 * taus[k], 100);
      measured.blocks.push_back(test::replay_record(static_cast<int>(i), k, block));
      table.add(k, block);
    }
    table.commit();
  }
  return measured;
}

}  // namespace

TEST_CASE("one slow block does not move the ratio of two boundaries") {
  Table table;
  table.cached[7] *= 60;
  const PacedTaus paced = RoundRatios(measured_of(table)).at_mean_pace();
  CHECK(*paced.seconds[0] == doctest::Approx(1e-3));
  CHECK(*paced.seconds[1] == doctest::Approx(0.5e-3));
  // The share of boundary 1's seconds that is its own.
  CHECK(paced.stretch[1] == doctest::Approx(0.5e-3 * kRounds / (0.5e-3 * (kRounds + 59))));
}

TEST_CASE("recurring stalls count in full") {
  Table table;
  for (std::size_t i = 0; i < table.live.size(); i += 3) table.live[i] *= 3;
  const Measurements measured = measured_of(table);
  const PacedTaus paced = RoundRatios(measured).at_mean_pace();
  CHECK(*paced.seconds[0] == doctest::Approx(measured.verdict.table.tau(0)));
  CHECK(*paced.seconds[1] == doctest::Approx(0.5e-3));
}

TEST_CASE("a live block is compared with its own round") {
  Table table;
  table.live[5] *= 4;
  table.cached[5] *= 4;
  Measurements measured = measured_of(table);
  const BlockRecord slow = measured.blocks[10];
  REQUIRE(slow.round == 5);
  const PacedTaus paced = RoundRatios(measured).at_pace_of(slow);
  CHECK(*paced.seconds[0] == doctest::Approx(4e-3));
  CHECK(*paced.seconds[1] == doctest::Approx(2e-3));
}

TEST_CASE("void blocks, pilot blocks and unvisited boundaries are ignored") {
  Measurements measured = measured_of({});
  const BlockResult wild = test::block_of(900, 100);
  measured.blocks.push_back(test::replay_record(-1, 1, wild));
  measured.blocks.push_back(test::replay_record(3, 1, wild));
  measured.blocks.back().result.is_void = true;
  for (const Arm& arm :
       {Arm{.boundary = 1, .observed = false}, Arm{.boundary = 1, .cache_samples = 8}}) {
    measured.blocks.push_back({.round = 3, .super_round = 3, .arm = arm, .result = wild});
  }
  const PacedTaus paced = RoundRatios(measured).at_mean_pace();
  CHECK(*paced.seconds[1] == doctest::Approx(0.5e-3));
  CHECK_FALSE(paced.seconds[2].has_value());
  CHECK(paced.stretch[2] == 1);
}
