#include "cachebisect/base/statistics.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"

using namespace cachebisect;

TEST_CASE("mean, deviation and quantiles match known values") {
  const std::array<double, 8> values{2, 4, 4, 4, 5, 5, 7, 9};
  CHECK(mean(values) == doctest::Approx(5));
  CHECK(standard_deviation(values) == doctest::Approx(2.1380899353));
  CHECK(coefficient_of_variation(values) == doctest::Approx(0.42761798706));
  CHECK(median(values) == doctest::Approx(4.5));
  CHECK(quantile(values, 0) == 2);
  CHECK(quantile(values, 1) == 9);
  CHECK(quantile(values, 0.9) == doctest::Approx(7.6));  // R: quantile(x, 0.9)
  CHECK(median(std::array<double, 3>{3, 1, 2}) == 2);
  CHECK(mean({}) == 0);
  CHECK_THROWS_AS((void)median({}), Error);
}

TEST_CASE("the interval of a median matches the binomial table") {
  std::vector<double> values;
  for (int i = 1; i <= 7; ++i) values.push_back(i);
  CHECK_FALSE(median_interval(values, 0.99).has_value());  // 1 - 2/2^7 = 0.984
  values.push_back(8);
  CHECK(median_interval(values, 0.99)->low == 1);  // 1 - 2/2^8 = 0.992
  CHECK(median_interval(values, 0.99)->high == 8);
  for (int i = 9; i <= 20; ++i) values.push_back(i);
  CHECK(median_interval(values, 0.95)->low == 6);  // sign-test table, n = 20: ranks 6 and 15
  CHECK(median_interval(values, 0.95)->high == 15);
}

TEST_CASE("the interval of a mean is Student's") {
  const std::vector<double> values{1, 2, 3};
  // t(0.975, 2) = 4.302653, standard deviation 1.
  const auto interval = mean_interval(values, 0.95);
  REQUIRE(interval);
  CHECK(interval->low == doctest::Approx(2 - 4.302653 / std::sqrt(3.0)).epsilon(1e-6));
  CHECK(interval->high == doctest::Approx(2 + 4.302653 / std::sqrt(3.0)).epsilon(1e-6));
  const std::vector<double> many{4, 6, 5, 7, 3, 5, 6, 4, 5, 5, 5};
  // t(0.995, 10) = 3.169273
  const double half = 3.169273 * standard_deviation(many) / std::sqrt(11.0);
  CHECK(mean_interval(many, 0.99)->high == doctest::Approx(5 + half).epsilon(1e-6));
  CHECK_FALSE(mean_interval(std::vector<double>{1}, 0.95));
}

TEST_CASE("the interval of a median covers it") {
  RandomStream random({.seed = 7});
  int held = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> values(15);
    for (auto& v : values) v = random.normal() * random.normal() * 3;  // heavy tails, median 0
    const auto interval = median_interval(values, 0.99);
    held += interval->low <= 0 && interval->high >= 0 ? 1 : 0;
  }
  CHECK(held >= 1970);
}

TEST_CASE("Clopper-Pearson intervals match published values") {
  CHECK(clopper_pearson(0, 300, 0.95).high == doctest::Approx(0.012221).epsilon(1e-3));
  CHECK(clopper_pearson(0, 300, 0.95).low == 0);
  CHECK(clopper_pearson(10, 10, 0.95).low == doctest::Approx(0.691503).epsilon(1e-4));
  CHECK(clopper_pearson(4, 20, 0.95).low == doctest::Approx(0.057334).epsilon(1e-4));
  CHECK(clopper_pearson(4, 20, 0.95).high == doctest::Approx(0.436614).epsilon(1e-4));
  CHECK(clopper_pearson(0, 0, 0.95).high == 1);
  CHECK_THROWS_AS((void)clopper_pearson(2, 1, 0.95), Error);
}
