// Scores reports against planted truth: right, wrong or inconclusive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::selftest {

enum class Outcome { right, wrong, inconclusive };
/// "right", "wrong" or "inconclusive".
CACHEBISECT_INTERNAL_API const char* to_string(Outcome outcome) noexcept;
/// Throws Error(usage) for any other word.
CACHEBISECT_INTERNAL_API Outcome outcome_of(const std::string& text);

/// Plain: written to a line of JSON and read back.
struct Score {
  std::uint64_t seed = 0;
  Pattern shape = Pattern::flat;
  std::string planted;
  int stages = 0;
  int workers = 0;
  bool jitter = false;
  double step_seconds = 0;  ///< of the training step alone, per batch
  double largest_drop = 0;
  double loss = 0;
  Outcome outcome = Outcome::inconclusive;
  std::string verdict;            ///< its kind, or the stage that it names
  std::string expected;           ///< the same for the truth
  std::string named_category;     ///< category of the named stage, or the verdict's kind
  std::string expected_category;  ///< the same for the truth
  bool false_alarm = false;       ///< a loss is reported of a chain that has none
  bool wrong_stage = false;
  int intervals = 0;                ///< of stages and of the whole loss; 0 if truth is approximate
  int covered = 0;                  ///< intervals that hold the truth, or overlap its interval
  std::vector<std::string> missed;  ///< the others: "NAME: TRUTH, printed as RANGE"; not kept
  double seconds = 0;               ///< of measuring
  double certified = 0;             ///< seconds to the certificate; 0 without one
  int rounds = 0;
  int blocks = 0;  ///< of evidence and pilot, without void ones
  std::optional<double> block_cv;
};

/// A drop is right if it names the stage with the most seconds per sample, or one within 10% of it,
/// or says that they are tied. Flat and spread are right by the true loss and drops, with a slack
/// of half a percent around min_drop.
CACHEBISECT_INTERNAL_API Score score(const Report& report, const PlantedChain& planted);

/// A score as one line of JSON without the newline, and back. Unknown keys are ignored. Throws
/// Error(usage) for a line that is not a score.
CACHEBISECT_INTERNAL_API std::string to_line(const Score& score);
CACHEBISECT_INTERNAL_API Score score_of(const std::string& line);

/// One line per chain, for people.
CACHEBISECT_INTERNAL_API std::string row(const Score& score);
CACHEBISECT_INTERNAL_API std::string row_header();

}  // namespace cachebisect::selftest
