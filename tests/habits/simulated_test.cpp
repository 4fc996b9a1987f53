// Habits in virtual time: verdicts that the run's own means would contradict.
#include <string>

#include "bench/habits/run.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

using namespace cachebisect;
using namespace cachebisect::habits;

namespace {

HabitScore simulated(const std::string& habit, std::uint64_t seed) {
  const auto scores = run_habits({.habits = {habit_named(habit, all_habits())},
                                  .first_seed = seed,
                                  .last_seed = seed,
                                  .simulated = true},
                                 [](const HabitScore&) {});
  REQUIRE(scores.size() == 1);
  return scores.front();
}

}  // namespace

TEST_CASE("a steady stage of 8% leads no verdict while rare stalls cost half of the time") {
  for (const std::uint64_t seed : {128, 144, 192, 230, 233, 245, 351, 366, 370, 388}) {
    const HabitScore score = simulated("stalls-next-to-steady", seed);
    CAPTURE(seed);
    CAPTURE(score.sentence);
    CHECK(score.score.outcome != selftest::Outcome::wrong);
    CHECK(score.score.verdict != "steady");
  }
}

TEST_CASE("where time is lost in stalls, no other stage is to be fixed first by typical blocks") {
  for (const std::uint64_t seed : {125, 159, 271, 286, 349, 377, 393}) {
    const HabitScore score = simulated("stalls-next-to-steady", seed);
    CAPTURE(seed);
    CAPTURE(score.sentence);
    CHECK(score.sentence.find("Fix steady first") == std::string::npos);
  }
}

TEST_CASE("blocks right after a stall are faster than usual, and that is no anomaly") {
  for (const std::uint64_t seed : {189, 361, 391}) {
    const HabitScore score = simulated("stalls-next-to-steady", seed);
    CAPTURE(score.sentence);
    CHECK(score.score.verdict != "anomaly");
  }
}

TEST_CASE("a pilot block that meets a stall does not cut the run in one piece short") {
  const HabitScore score = simulated("slow-sample", 378);
  CAPTURE(score.sentence);
  CHECK(score.score.verdict != "flat");
}

TEST_CASE("intervals hold where costs depend on content, or on rare samples") {
  int intervals = 0;
  int covered = 0;
  for (std::uint64_t seed = 501; seed <= 540; ++seed) {
    for (const char* habit : {"content-cv0.6", "rare-costly"}) {
      const HabitScore score = simulated(habit, seed);
      intervals += score.score.intervals;
      covered += score.score.covered;
    }
  }
  MESSAGE(covered << " of " << intervals);
  CHECK(covered >= 0.975 * intervals);
}

TEST_CASE("a habit that is more than its costs does not run in virtual time") {
  CHECK_THROWS_AS(simulated("burst-credits", 1), Error);
}
