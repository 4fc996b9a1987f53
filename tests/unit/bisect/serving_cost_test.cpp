#include "cachebisect/bisect/evidence/serving_cost.hpp"

#include "support/rounds.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

ChainDescription chain() {
  ChainDescription description;
  for (const Category category :
       {Category::read, Category::augment, Category::collate, Category::copy}) {
    StageDescription stage;
    stage.category = category;
    description.stages.push_back(stage);
  }
  return description;
}

BlockResult writes(double seconds, std::uint64_t samples) {
  BlockResult block = test::block_of(1, 10);
  block.stages.resize(4);
  block.stages[1].slot_write_seconds = seconds;
  block.stages[1].slot_writes = samples;
  return block;
}

const CacheFacts kLookup{.serve_seconds_per_sample = {0, 1e-6, 2e-6, 0, 0}};

}  // namespace

TEST_CASE("before collate, writing served samples into the slot is part of serving them") {
  RoundTable rounds = RoundTable::of_boundaries(4);
  for (const double seconds : {0.3, 0.1}) {
    rounds.add(2, writes(seconds, 1000));
    rounds.commit();
  }
  const auto cost = serving_cost(chain(), kLookup, rounds);
  REQUIRE(cost.size() == 5);
  CHECK(cost[2] == doctest::Approx(2e-6 + 2e-4));
  CHECK(cost[1] == 1e-6);
}

TEST_CASE("writing belongs to the stages that run after the cache") {
  RoundTable rounds = RoundTable::of_boundaries(4);
  rounds.add(1, writes(0.3, 1000));
  rounds.commit();
  const auto cost = serving_cost(chain(), kLookup, rounds);
  CHECK(cost[1] == 1e-6);
  CHECK(cost[2] == 2e-6);
}

TEST_CASE("a round that was not completed does not count for the cost of serving") {
  RoundTable rounds = RoundTable::of_boundaries(4);
  rounds.add(2, writes(0.3, 1000));
  CHECK(serving_cost(chain(), kLookup, rounds)[2] == 2e-6);
}

TEST_CASE("the cost of serving is unknown if the replayer did not time it") {
  CHECK(serving_cost(chain(), {}, RoundTable::of_boundaries(4)).empty());
}
