#include "cachebisect/replay/cache_places.hpp"

#include <set>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

std::uint64_t run_block(CachePlaces& places, const Arm& arm, std::uint64_t batches,
                        std::uint64_t cached) {
  const std::uint64_t first = places.begin(arm, cached);
  places.end(arm, batches);
  return first % cached;
}

}  // namespace

TEST_CASE("blocks of an arm share no batch until all were served") {
  constexpr std::uint64_t cached = 21;
  constexpr std::uint64_t batches = 7;
  CachePlaces places;
  for (int turn = 0; turn < 5; ++turn) {
    std::set<std::uint64_t> served;
    for (std::uint64_t i = 0; i < cached / batches; ++i) {
      const std::uint64_t first = run_block(places, {.boundary = 1}, batches, cached);
      static_cast<void>(run_block(places, {.boundary = 2}, batches + 1, cached));
      for (std::uint64_t b = 0; b < batches; ++b) served.insert((first + b) % cached);
    }
    CHECK(served.size() == cached);
  }
}

TEST_CASE("fresh caches are served as a whole again, whatever was left of the last ones") {
  constexpr std::uint64_t cached = 21;
  constexpr std::uint64_t batches = 7;
  CachePlaces places;
  static_cast<void>(run_block(places, {.boundary = 1}, batches - 1, cached));
  for (int turn = 0; turn < 5; ++turn) {
    places.freshen();
    std::set<std::uint64_t> served;
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t first = run_block(places, {.boundary = 1}, batches, cached);
      for (std::uint64_t b = 0; b < batches; ++b) served.insert((first + b) % cached);
    }
    CHECK(served.size() == cached);
    static_cast<void>(run_block(places, {.boundary = 1}, batches - 1, cached));
  }
}

TEST_CASE("an arm whose blocks take all that is cached begins at other places") {
  constexpr std::uint64_t cached = 8;
  CachePlaces places;
  std::set<std::uint64_t> firsts;
  for (int i = 0; i < 40; ++i) firsts.insert(run_block(places, {.boundary = 1}, cached, cached));
  CHECK(firsts.size() == cached);
}

TEST_CASE("a null block goes on where the block of its boundary stopped") {
  CachePlaces places;
  const std::uint64_t first = run_block(places, {.boundary = 1}, 3, 100);
  const Arm null{.kind = ArmKind::null, .boundary = 1, .observed = false};
  CHECK(run_block(places, null, 3, 100) == (first + 3) % 100);
}

TEST_CASE("nothing cached is one place") { CHECK(CachePlaces().begin({}, 0) == 0); }
