// Scores reports against planted truth: right, wrong, inconclusive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::selftest {

enum class Outcome { right, wrong, inconclusive };
/// "right", "wrong" or "inconclusive".
CACHEBISECT_INTERNAL_API const char* to_string(Outcome outcome) noexcept;
/// Throws Error(usage) for another word.
CACHEBISECT_INTERNAL_API Outcome outcome_of(const std::string& text);

/// Plain, so that it can be written to a line and read again.
struct Score {
  std::uint64_t seed = 0;
  Pattern shape = Pattern::flat;
  std::string planted;
  int stages = 0;
  int workers = 0;
  bool jitter = false;
  double step_seconds = 0;  ///< of the training step alone, a batch
  double largest_drop = 0;
  double loss = 0;
  Outcome outcome = Outcome::inconclusive;
  std::string verdict;            ///< kind, or the stage that it names
  std::string expected;           ///< the same of the truth
  std::string named_category;     ///< category of the stage named; else the verdict's kind
  std::string expected_category;  ///< the same of the truth
  bool false_alarm = false;       ///< a loss reported where there is none
  bool wrong_stage = false;
  int intervals = 0;     ///< for stages and for the whole loss, where truth is not approximate
  int covered = 0;       ///< of them, those that hold the truth, or meet its own interval
  double seconds = 0;    ///< measured
  double certified = 0;  ///< seconds to the certificate; 0 where there is none
  int rounds = 0;
  int blocks = 0;  ///< evidence and pilot, void ones not counted
  std::optional<double> block_cv;
};

/// A drop is right when it names the stage with the largest true drop, or one within 10% of it, or
/// when it says that they are tied; flat and spread are right by the true loss and drops, which may
/// lie within half a percent of min_drop.
CACHEBISECT_INTERNAL_API Score score(const Report& report, const PlantedChain& planted);

/// A score as one line of JSON without the newline, and back. Unknown keys are ignored; throws
/// Error(usage) for what is no score.
CACHEBISECT_INTERNAL_API std::string to_line(const Score& score);
CACHEBISECT_INTERNAL_API Score score_of(const std::string& line);

/// One line a chain, for people.
CACHEBISECT_INTERNAL_API std::string row(const Score& score);
CACHEBISECT_INTERNAL_API std::string row_header();

}  // namespace cachebisect::selftest
