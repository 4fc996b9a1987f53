#include "cachebisect/pipeline/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using cachebisect::Sampler;

namespace {

std::vector<std::uint64_t> order(const Sampler& sampler, std::uint64_t epoch) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t p = 0; p < sampler.size(); ++p) all.push_back(sampler.index(epoch, p));
  return all;
}

}  // namespace

TEST_CASE("an epoch is a permutation of every size") {
  for (const std::uint64_t size :
       {1U, 2U, 3U, 4U, 5U, 7U, 15U, 16U, 17U, 63U, 64U, 65U, 255U, 257U, 1000U, 50000U}) {
    CAPTURE(size);
    const Sampler sampler(size, 7, true);
    std::vector<bool> seen(size, false);
    for (const std::uint64_t index : order(sampler, 3)) {
      REQUIRE(index < size);
      REQUIRE_FALSE(seen[index]);
      seen[index] = true;
    }
  }
}

TEST_CASE("the order depends on seed and epoch alone") {
  const Sampler a(1000, 1, true);
  CHECK(order(a, 0) == order(Sampler(1000, 1, true), 0));
  CHECK(order(a, 0) != order(a, 1));
  CHECK(order(a, 0) != order(Sampler(1000, 2, true), 0));
  CHECK(order(a, 1) != order(Sampler(1000, 0, true), 0));
}

TEST_CASE("all orders of three samples are about equally frequent") {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 200; ++epoch) {
    orders.insert(order(Sampler(3, 11, true), epoch));
  }
  CHECK(orders.size() == 6);
}

TEST_CASE("shuffled positions are uniform and uncorrelated") {
  const Sampler sampler(10000, 5, true);
  double sum = 0;
  double products = 0;
  for (std::uint64_t p = 0; p < 5000; ++p) {
    const auto index = static_cast<double>(sampler.index(0, p));
    sum += index;
    products += (index - 4999.5) * (static_cast<double>(p) - 2499.5);
  }
  CHECK(sum / 5000 == doctest::Approx(4999.5).epsilon(0.03));
  const double correlation = products / 5000 / (2886.8 * 1443.4);
  CHECK(std::abs(correlation) < 0.06);
}

TEST_CASE("without shuffle the position is the index") {
  const Sampler sampler(10, 5, false);
  for (std::uint64_t p = 0; p < 10; ++p) CHECK(sampler.index(4, p).value == p);
}

TEST_CASE("eight replacements of a position are different samples") {
  for (const bool shuffle : {false, true}) {
    for (const std::uint64_t size : {9U, 10U, 16U, 100U, 50000U}) {
      CAPTURE(size);
      const Sampler sampler(size, 1, shuffle);
      std::set<std::uint64_t> tried{sampler.index(2, size - 1)};
      for (unsigned attempt = 1; attempt <= 8; ++attempt) {
        const std::uint64_t index = sampler.replacement(2, size - 1, attempt);
        CHECK(index < size);
        tried.insert(index);
      }
      CHECK(tried.size() == 9);
    }
  }
}

TEST_CASE("a huge data set is shuffled at no cost") {
  const std::uint64_t size = std::uint64_t{1} << 62U;
  const Sampler sampler(size, 1, true);
  CHECK(sampler.index(0, size - 1) < size);
  CHECK(sampler.index(0, 0) != sampler.index(0, 1));
}

TEST_CASE("with runs, an epoch is a permutation of every size") {
  for (const std::uint64_t size : {1U, 2U, 9U, 10U, 11U, 99U, 100U, 101U, 1000U, 12345U}) {
    for (const std::uint64_t run : {2U, 10U, 64U, 20000U}) {
      for (const std::uint64_t mixed : {1U, 3U, 1000U}) {
        CAPTURE(size);
        CAPTURE(run);
        CAPTURE(mixed);
        const Sampler sampler(size, 7, true, {.samples = run, .mixed = mixed});
        std::vector<std::uint64_t> all = order(sampler, 5);
        std::ranges::sort(all);
        for (std::uint64_t i = 0; i < size; ++i) REQUIRE(all[i] == i);
      }
    }
  }
}

TEST_CASE(
    "with runs, a window has the samples of as many runs as are mixed, and their neighbours") {
  constexpr std::uint64_t kRun = 50;
  constexpr std::uint64_t kMixed = 4;
  for (const std::uint64_t size : {5000U, 5017U}) {
    const Sampler sampler(size, 3, true, {.samples = kRun, .mixed = kMixed});
    std::set<std::uint64_t> first_runs;
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
      for (std::uint64_t begin = 0; begin + kRun * kMixed <= size; begin += kRun * kMixed) {
        std::set<std::uint64_t> runs;
        for (std::uint64_t p = begin; p < begin + kRun * kMixed; ++p) {
          runs.insert(sampler.index(epoch, p) / kRun);
        }
        CHECK(runs.size() <= kMixed + 2);  // A shorter run shifts the others.
        if (begin == 0) first_runs.insert(*runs.begin());
      }
    }
    CHECK(first_runs.size() > 5);
  }
}

TEST_CASE("with runs, samples of a window are shuffled, anew in each epoch") {
  const Sampler sampler(4000, 3, true, {.samples = 100, .mixed = 10});
  CHECK(order(sampler, 0) != order(sampler, 1));
  int neighbours = 0;
  for (std::uint64_t p = 1; p < 1000; ++p) {
    if (sampler.index(0, p) == sampler.index(0, p - 1) + 1) ++neighbours;
  }
  CHECK(neighbours < 10);
}
