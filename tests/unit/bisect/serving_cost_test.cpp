#include "cachebisect/bisect/evidence/serving_cost.hpp"

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
  BlockResult block;
  block.stages.resize(4);
  block.stages[1].slot_write_seconds = seconds;
  block.stages[1].slot_writes = samples;
  return block;
}

}  // namespace

TEST_CASE("before collate, writing served samples into the slot is part of serving them") {
  ServingCost cost(chain());
  cost.set_lookup({0, 1e-6, 2e-6, 0, 0});
  cost.add({.boundary = 2}, writes(0.3, 1000));
  cost.add({.boundary = 2}, writes(0.1, 1000));
  REQUIRE(cost.seconds_per_sample().size() == 5);
  CHECK(cost.seconds_per_sample()[2] == doctest::Approx(2e-6 + 2e-4));
  CHECK(cost.seconds_per_sample()[1] == 1e-6);
}

TEST_CASE("where stages after the cache run, writing is theirs") {
  ServingCost cost(chain());
  cost.set_lookup({0, 1e-6, 2e-6, 0, 0});
  cost.add({.boundary = 1}, writes(0.3, 1000));
  cost.add({.kind = ArmKind::bypass, .stage = 2}, writes(0.3, 1000));
  CHECK(cost.seconds_per_sample()[1] == 1e-6);
  CHECK(cost.seconds_per_sample()[2] == 2e-6);
}

TEST_CASE("nothing is known where the replayer tells nothing") {
  ServingCost cost(chain());
  cost.add({.boundary = 2}, writes(0.3, 1000));
  CHECK(cost.seconds_per_sample().empty());
}
