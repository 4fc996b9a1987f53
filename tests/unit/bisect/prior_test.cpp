#include "cachebisect/bisect/costs/prior.hpp"

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

constexpr std::uint64_t kSamples = 1000;
constexpr double kCeiling = 0.5e-3;

/// Four workers read, a thread of the training process receives or pins.
ChainDescription chain_with(Category last) {
  ChainDescription chain;
  chain.workers = 4;
  chain.stages.resize(2);
  chain.stages[0].category = Category::read;
  chain.stages[1].category = last;
  return chain;
}

/// A live block in which reading takes 2 ms per sample.
BlockResult live_block(double last_busy, double last_serial) {
  BlockResult block;
  block.stages.resize(2);
  for (StageCounters& counters : block.stages) counters.samples = kSamples;
  block.stages[0].busy_seconds = 2e-3 * kSamples;
  block.stages[1].busy_seconds = last_busy * kSamples;
  block.stages[1].serial_seconds = last_serial * kSamples;
  return block;
}

}  // namespace

TEST_CASE("four workers share the time of a stage that they all run") {
  const auto expected =
      expected_seconds(chain_with(Category::augment), live_block(4e-3, 0), kCeiling);
  REQUIRE(expected.size() == 3);
  CHECK(expected[2] == kCeiling);
  CHECK(expected[1] == doctest::Approx(1e-3));
  CHECK(expected[0] == doctest::Approx(1.5e-3));
}

TEST_CASE("one thread pins, whatever the number of workers") {
  const auto expected =
      expected_seconds(chain_with(Category::pin), live_block(4e-3, 0.1e-3), kCeiling);
  REQUIRE(expected.size() == 3);
  CHECK(expected[1] == doctest::Approx(4e-3));
  CHECK(expected[0] == doctest::Approx(4e-3));
}

TEST_CASE("the training thread receives batches in addition to its step") {
  const auto expected =
      expected_seconds(chain_with(Category::transfer), live_block(4e-3, 0), kCeiling);
  REQUIRE(expected.size() == 3);
  CHECK(expected[1] >= 4e-3);
}

TEST_CASE("a block without counters gives no prior") {
  CHECK(expected_seconds(chain_with(Category::pin), BlockResult{}, kCeiling).empty());
}
