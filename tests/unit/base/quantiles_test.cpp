#include "cachebisect/base/quantiles.hpp"

#include <cmath>
#include <cstddef>
#include <optional>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

/// The same to the last few bits.
doctest::Approx exactly(double value) { return doctest::Approx(value).scale(0).epsilon(1e-14); }

/// P(at most `most` of `coins` fair coins show heads), by counting.
double heads_probability(std::size_t coins, std::size_t most) {
  double ways = 1;
  double all = 1;
  for (std::size_t k = 1; k <= most; ++k) {
    ways *= static_cast<double>(coins - k + 1) / static_cast<double>(k);
    all += ways;
  }
  return std::ldexp(all, -static_cast<int>(coins));
}

}  // namespace

// The values are those of a computation with 50 digits.
TEST_CASE("quantiles are exact to the last bits, in the tails too") {
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == exactly(1.9599639845400538));
  CHECK(normal_quantile(0.001) == exactly(-3.0902323061678136));
  CHECK(normal_quantile(1e-6) == exactly(-4.7534243088228987));
  CHECK(normal_quantile(1 - 1e-10) == exactly(6.3613408896974217));

  CHECK(student_quantile(0.95, 2) == exactly(4.3026527297494619));
  CHECK(student_quantile(0.99, 10) == exactly(3.1692726726169509));
  CHECK(student_quantile(0.9, 1) == exactly(6.3137515146750447));
  CHECK(student_quantile(0.999, 4.7) == exactly(7.2665423758250922));
  CHECK(student_quantile(0.95, 1e5) == exactly(1.9599877075346093));

  CHECK(beta_quantile(4, 17, 0.025) == exactly(0.05733399705003276));
  CHECK(beta_quantile(5, 16, 0.975) == exactly(0.4366140029966683));
  CHECK(beta_quantile(1, 300, 0.975) == exactly(0.012220974694293551));
  CHECK(beta_quantile(1000, 1, 0.005) == exactly(0.99471569396050252));
}

TEST_CASE("coins that show heads are counted to the exact probability") {
  for (std::size_t coins = 1; coins <= 50; ++coins) {
    for (std::size_t most = 0; 2 * most + 1 < coins; ++most) {
      const double probability = heads_probability(coins, most);
      CAPTURE(coins);
      CAPTURE(most);
      CHECK(heads_quantile(coins, probability * (1 + 1e-12)) == most);
      const auto fewer = heads_quantile(coins, probability * (1 - 1e-12));
      CHECK(fewer == (most == 0 ? std::nullopt : std::optional(most - 1)));
    }
  }
  CHECK(heads_quantile(8, 1.0 / 256) == 0);  // no heads at all have exactly this probability
  CHECK_FALSE(heads_quantile(0, 0.5).has_value());
}

TEST_CASE("what is out of range is no number or infinite, and no error") {
  CHECK(std::isnan(normal_quantile(std::nan(""))));
  CHECK(std::isnan(student_quantile(0.95, std::nan(""))));
  CHECK(std::isinf(student_quantile(1, 5)));
}
