// Which counts of rounds make it certain that the slowest rank is the same, or that it changes.
#include "cachebisect/bisect/analysis/straggler.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

constexpr int kNone = -1;

/// A live block of each round, in which this rank waited for half of the time and the others a
/// tenth of that; kNone: all waited alike.
Measurements rounds_led_by(const std::vector<int>& ranks) {
  Measurements measured;
  measured.settings.confidence = 0.99;
  measured.settings.min_drop = 0.05;
  int round = 0;
  for (const int rank : ranks) {
    BlockRecord record;
    record.phase = BlockPhase::measure;
    record.round = round++;
    record.result.samples = 32;
    record.result.seconds = 2;
    record.result.slowest_rank = rank == kNone ? SlowestRank{0, 1, 0.9} : SlowestRank{rank, 1, 0.1};
    measured.blocks.push_back(record);
  }
  return measured;
}

}  // namespace

TEST_CASE("a rank that leads all of eight rounds is certainly the slowest in most") {
  const auto found = find_straggler(rounds_led_by(std::vector<int>(8, 3)));
  REQUIRE(found.has_value());
  CHECK_FALSE(found->moves);
  CHECK(found->rank == 3);
  CHECK(found->rounds == 8);
  CHECK(found->of_rounds == 8);
}

TEST_CASE("seven rounds are too few to be certain") {
  CHECK_FALSE(find_straggler(rounds_led_by(std::vector<int>(7, 3))).has_value());
}

TEST_CASE("ranks that take turns are certainly not one straggler") {
  const auto found = find_straggler(rounds_led_by({0, 2, 1, 3, 2, 0, 1, 2, 3, 0}));
  REQUIRE(found.has_value());
  CHECK(found->moves);
  CHECK(found->rounds == 3);
  CHECK(found->of_rounds == 10);
}

TEST_CASE("ranks that wait alike are no stragglers, whichever of them waited longest") {
  CHECK_FALSE(find_straggler(rounds_led_by(std::vector<int>(20, kNone))).has_value());
  // Nor does a round in ten make one.
  std::vector<int> ranks(20, kNone);
  ranks[4] = 1;
  ranks[11] = 2;
  CHECK_FALSE(find_straggler(rounds_led_by(ranks)).has_value());
}

TEST_CASE("what was not waited for, not live, or measured twice in a round does not count") {
  Measurements measured = rounds_led_by(std::vector<int>(8, 3));
  for (BlockRecord& record : measured.blocks) record.result.slowest_rank->starved_seconds = 0.05;
  CHECK_FALSE(find_straggler(measured).has_value());
  measured = rounds_led_by(std::vector<int>(8, 3));
  for (BlockRecord& record : measured.blocks) record.arm.boundary = 1;
  CHECK_FALSE(find_straggler(measured).has_value());
  measured = rounds_led_by(std::vector<int>(8, 3));
  for (BlockRecord& record : measured.blocks) record.round = 0;
  CHECK_FALSE(find_straggler(measured).has_value());
}
