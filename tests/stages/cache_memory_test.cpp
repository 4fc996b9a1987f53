// What goes when the limit of a cache in memory is reached.
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/stage_maker.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::unique_ptr<CacheStage> cache(double bytes, const std::string& evict) {
  return make_stage<CacheStage>("cache.memory", {{"limit_gb", bytes / 1e9}, {"evict", evict}});
}

void keep(const CacheStage& stage, std::uint64_t index) {
  Sample sample;
  sample.set_index({index});
  sample.field("x").resize(DType::uint8, Shape{1000});
  static_cast<void>(process_sample(stage, sample));
}

bool holds(const CacheStage& stage, std::uint64_t index) {
  Sample out;
  return stage.find({index}, out) && out.index() == index;
}

/// Room for three samples and a half, holding the samples 0, 1 and 2.
std::unique_ptr<CacheStage> full_cache(const std::string& evict) {
  const auto large = cache(1e6, evict);
  keep(*large, 0);
  auto small = cache(3.5 * static_cast<double>(large->use().bytes), evict);
  for (const std::uint64_t index : {0, 1, 2}) keep(*small, index);
  return small;
}

std::vector<bool> held(const CacheStage& stage) {
  return {holds(stage, 0), holds(stage, 1), holds(stage, 2), holds(stage, 3)};
}

}  // namespace

TEST_CASE("with fifo the oldest sample goes first") {
  const auto stage = full_cache("fifo");
  CHECK(holds(*stage, 0));
  keep(*stage, 3);
  CHECK(held(*stage) == std::vector<bool>{false, true, true, true});
}

TEST_CASE("with lru the sample that was not used for longest goes first") {
  const auto stage = full_cache("lru");
  CHECK(holds(*stage, 0));
  keep(*stage, 3);
  CHECK(held(*stage) == std::vector<bool>{true, false, true, true});
}

TEST_CASE("a sample that is kept twice counts once, and one that never fits is left out") {
  for (const char* const evict : {"none", "fifo", "lru"}) {
    CAPTURE(evict);
    const auto large = cache(1e6, evict);
    keep(*large, 4);
    const std::uint64_t bytes = large->use().bytes;
    keep(*large, 4);
    CHECK(large->use().samples == 1);
    CHECK(large->use().bytes == bytes);
    CHECK(bytes >= 1000);
    const auto small = cache(500, evict);
    keep(*small, 0);
    CHECK(small->use().samples == 0);
    CHECK(small->use().bytes == 0);
    CHECK(small->use().full);
    CHECK_FALSE(holds(*small, 0));
  }
}

TEST_CASE("with reuse a sample serves so many times, and is replaced then") {
  const auto stage = make_stage<CacheStage>("cache.memory", {{"limit_gb", 1e-3}, {"reuse", 2}});
  const auto serves = [&](std::uint64_t index) {
    keep(*stage, index);
    int times = 0;
    while (times < 100 && holds(*stage, index)) ++times;
    return times;
  };
  // At first fewer times, so that not all are made anew in one epoch.
  CHECK(serves(0) == 2);
  CHECK(serves(1) == 1);
  CHECK(serves(2) == 0);
  const std::uint64_t bytes = stage->use().bytes;
  for (const std::uint64_t index : {0, 1, 2}) {
    CHECK(serves(index) == 2);
    CHECK(serves(index) == 2);
  }
  CHECK(stage->use().samples == 3);
  CHECK(stage->use().bytes == bytes);
  CHECK_FALSE(stage->use().full);
}

TEST_CASE("with reuse and nothing to evict, what has no room is left out") {
  const auto large = cache(1e6, "fifo");
  keep(*large, 0);
  const double room = 3.5 * static_cast<double>(large->use().bytes);
  const auto stage =
      make_stage<CacheStage>("cache.memory", {{"limit_gb", room / 1e9}, {"reuse", 3}});
  for (const std::uint64_t index : {0, 1, 2, 3}) keep(*stage, index);
  CHECK(stage->use().full);
  CHECK(held(*stage) == std::vector<bool>{true, true, true, false});
}

TEST_CASE("an index beyond any data set is not kept, and is not found") {
  const auto stage = cache(1e6, "none");
  keep(*stage, ~std::uint64_t{0});
  CHECK_FALSE(holds(*stage, ~std::uint64_t{0}));
  CHECK(stage->use().samples == 0);
}

TEST_CASE("a limit above the memory that is available is refused") {
  const auto stage = cache(1e13, "none");
  CHECK(has(usage_error([&] { stage->open(); }), "lower the limit"));
  CHECK_NOTHROW(cache(1e6, "none")->open());
}
