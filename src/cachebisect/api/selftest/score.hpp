// Scores reports against planted truth: right, wrong, inconclusive, with exact intervals.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cachebisect/api/selftest/draw.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report.hpp"

namespace cachebisect::selftest {

enum class Outcome { right, wrong, inconclusive };
CACHEBISECT_API const char* to_string(Outcome outcome) noexcept;
/// "right", "wrong" or "inconclusive".
CACHEBISECT_API const char* outcome_key(Outcome outcome) noexcept;

struct Score {
  std::uint64_t seed = 0;
  Pattern shape = Pattern::flat;
  std::string planted;
  int stages = 0;
  int workers = 0;
  Outcome outcome = Outcome::inconclusive;
  std::string verdict;       ///< kind, and the stage that it names
  std::string expected;      ///< the same of the truth
  bool false_alarm = false;  ///< a loss reported where there is none
  bool wrong_stage = false;
  int intervals = 0;  ///< printed for stages and for the whole loss
  int covered = 0;    ///< of them, those that hold the truth
  double largest_drop = 0;
  double seconds = 0;  ///< measured
  int rounds = 0;
};

/// A drop is right when it names the stage with the largest true drop, or one within 10% of it, or
/// when it says that they are tied; flat and spread are right by the true loss and drops, which may
/// lie within half a percent of min_drop.
CACHEBISECT_API Score score(const Report& report, const PlantedChain& planted);

/// The table of all of them: outcomes, false alarms, coverage and times, with Clopper-Pearson
/// intervals at 95%, and right over wrong by planted kind.
CACHEBISECT_API std::string summary(const std::vector<Score>& scores);
/// One line a chain.
CACHEBISECT_API std::string row(const Score& score);
CACHEBISECT_API std::string row_header();

}  // namespace cachebisect::selftest
