#include "cachebisect/base/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using cachebisect::hash_name;
using cachebisect::Jitter;
using cachebisect::JitterSequence;

TEST_CASE("without jitter the factor is 1") {
  CHECK(JitterSequence({}, 3).factor(17) == 1.0);
  CHECK(JitterSequence({.kind = Jitter::Kind::lognormal, .cv = 0}, 3).factor(17) == 1.0);
}

TEST_CASE("any 64 consecutive factors average to 1 and have the requested variation") {
  for (const auto kind : {Jitter::Kind::lognormal, Jitter::Kind::pareto}) {
    for (const double cv : {0.02, 0.3, 1.0, 3.0}) {
      const JitterSequence sequence({.kind = kind, .cv = cv}, hash_name("slow"));
      CAPTURE(cv);
      for (std::uint64_t first : {0ULL, 1ULL, 50ULL, 1000003ULL, ~0ULL - 70}) {
        double sum = 0;
        double squares = 0;
        for (std::uint64_t i = first; i != first + 64; ++i) {
          const double x = sequence.factor(i);
          CHECK(x > 0);
          sum += x;
          squares += (x - 1) * (x - 1);
        }
        CHECK(sum / 64 == doctest::Approx(1.0).epsilon(1e-12));
        // The spread of the tail within its cell is averaged out, so the cv comes out slightly low.
        const double measured = std::sqrt(squares / 64);
        CHECK(measured < cv);
        if (cv <= 0.3) CHECK(measured > 0.75 * cv);
      }
    }
  }
}

TEST_CASE("factors follow the distribution") {
  const double cv = 0.5;
  const JitterSequence sequence({.kind = Jitter::Kind::lognormal, .cv = cv}, 0);
  std::vector<double> sorted;
  for (std::uint64_t i = 0; i < 64; ++i) sorted.push_back(sequence.factor(i));
  std::sort(sorted.begin(), sorted.end());
  // The median of a lognormal with mean 1 is exp(-sigma^2 / 2).
  const double median = std::exp(-0.5 * std::log1p(cv * cv));
  CHECK(std::sqrt(sorted[31] * sorted[32]) == doctest::Approx(median).epsilon(0.001));
}

TEST_CASE("short runs are spread evenly") {
  const JitterSequence sequence({.kind = Jitter::Kind::lognormal, .cv = 0.3}, hash_name("a"));
  for (std::uint64_t first = 0; first < 64; ++first) {
    double sum = 0;
    for (std::uint64_t i = first; i < first + 16; ++i) sum += sequence.factor(i);
    CHECK(sum / 16 == doctest::Approx(1.0).epsilon(0.08));
  }
}

TEST_CASE("different stages get different sequences") {
  const Jitter jitter{.kind = Jitter::Kind::pareto, .cv = 0.5};
  int equal = 0;
  const JitterSequence a(jitter, hash_name("a"));
  const JitterSequence b(jitter, hash_name("b"));
  for (std::uint64_t i = 0; i < 64; ++i) equal += a.factor(i) == b.factor(i) ? 1 : 0;
  CHECK(equal < 32);
}
