#include "cachebisect/base/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using cachebisect::hash_name;
using cachebisect::Jitter;
using cachebisect::jitter_factor;
using cachebisect::JitterSequence;

TEST_CASE("no jitter is the factor 1") {
  CHECK(jitter_factor({}, 17, 3) == 1.0);
  CHECK(jitter_factor({.kind = Jitter::Kind::lognormal, .cv = 0}, 17, 3) == 1.0);
}

TEST_CASE("any 64 consecutive factors average to 1, and vary as asked") {
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
        // The tail's spread inside its cell is averaged away, so the cv is met from below.
        const double measured = std::sqrt(squares / 64);
        CHECK(measured < cv);
        if (cv <= 0.3) CHECK(measured > 0.75 * cv);
      }
    }
  }
}

TEST_CASE("cells are those of the distribution") {
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

TEST_CASE("stages differ, and one factor equals the sequence's") {
  const Jitter jitter{.kind = Jitter::Kind::pareto, .cv = 0.5};
  int equal = 0;
  const JitterSequence a(jitter, hash_name("a"));
  const JitterSequence b(jitter, hash_name("b"));
  for (std::uint64_t i = 0; i < 64; ++i) {
    equal += a.factor(i) == b.factor(i) ? 1 : 0;
    CHECK(jitter_factor(jitter, i, hash_name("a")) == a.factor(i));
  }
  CHECK(equal < 32);
}
