#include "cachebisect/pipeline/sampler.hpp"

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
