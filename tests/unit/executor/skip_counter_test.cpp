// How many damaged samples are too many.
#include "cachebisect/executor/skip_counter.hpp"

#include <cstdint>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr int kSets = 300;
constexpr int kSamples = 4000;

/// Whether a data set with this share of damaged samples is refused.
bool refused(double share, std::uint64_t seed) {
  RandomStream random({.seed = seed, .stage = hash_name("damaged")});
  SkipCounter counter;
  try {
    for (int sample = 0; sample < kSamples; ++sample) {
      counter.add_loaded(1);
      if (random.uniform(0, 1) < share) counter.add_skipped("a sample");
    }
  } catch (const Error&) {
    return true;
  }
  return false;
}

int refused_of(double share) {
  int count = 0;
  for (int seed = 0; seed < kSets; ++seed) {
    if (refused(share, static_cast<std::uint64_t>(seed))) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("data sets with fewer damaged samples than allowed are not refused by chance") {
  CHECK(refused_of(0.02) == 0);
  CHECK(refused_of(0.045) == 0);
}

TEST_CASE("data sets with certainly more are refused, early if they have many") {
  CHECK(refused_of(0.08) == kSets);
  SkipCounter counter;
  int skipped = 0;
  const std::string text = error_message(
      [&] {
        for (int sample = 0; sample < kSamples; ++sample) {
          counter.add_loaded(1);
          if (sample % 4 != 0) continue;
          ++skipped;
          counter.add_skipped("stage 'decode', sample 4");
        }
      },
      ErrorKind::data);
  CHECK(has(text,
            "more than 5% of the samples are damaged (" + std::to_string(skipped) + " of 200)"));
  CHECK(skipped < 30);
}
