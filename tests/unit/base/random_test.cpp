#include "cachebisect/base/random.hpp"

#include <cmath>
#include <set>

#include <doctest/doctest.h>

using cachebisect::RandomKey;
using cachebisect::RandomStream;

TEST_CASE("equal keys give equal streams, and different keys different ones") {
  RandomStream a({.seed = 1, .epoch = 2, .index = 3, .stage = 4});
  RandomStream b({.seed = 1, .epoch = 2, .index = 3, .stage = 4});
  for (int i = 0; i < 100; ++i) CHECK(a.next_u32() == b.next_u32());

  std::set<std::uint64_t> first;
  for (std::uint64_t i = 0; i < 4; ++i) {
    first.insert(RandomStream({.seed = i}).next_u64());
    first.insert(RandomStream({.epoch = i + 1}).next_u64());
    first.insert(RandomStream({.index = i + 1}).next_u64());
    first.insert(RandomStream({.stage = i + 1}).next_u64());
  }
  CHECK(first.size() == 16);
}

TEST_CASE("uniform, below and normal have the right moments") {
  double sum = 0;
  double sum_of_squares = 0;
  double normal_squares = 0;
  std::array<int, 7> counts{};
  constexpr int kDraws = 20000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    RandomStream stream({.seed = 7, .index = i});
    const double u = stream.uniform();
    CHECK(u >= 0);
    CHECK(u < 1);
    sum += u;
    sum_of_squares += u * u;
    ++counts.at(stream.below(7));
    const double z = stream.normal();
    normal_squares += z * z;
  }
  CHECK(sum / kDraws == doctest::Approx(0.5).epsilon(0.02));
  CHECK(sum_of_squares / kDraws == doctest::Approx(1.0 / 3).epsilon(0.02));
  CHECK(normal_squares / kDraws == doctest::Approx(1.0).epsilon(0.05));
  for (const int count : counts) CHECK(count == doctest::Approx(kDraws / 7.0).epsilon(0.1));
}
