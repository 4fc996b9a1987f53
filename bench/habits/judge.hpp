// Judges a report on a chain with a habit against the truth: right, wrong or inconclusive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/habits/chain.hpp"
#include "bench/habits/truth.hpp"

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/selftest/score.hpp"

namespace cachebisect::habits {

/// A score of the corpus, and what else was said.
struct HabitScore {
  selftest::Score score;  ///< `planted` is the habit
  /// Inconclusive, but the sentence or a warning about it names a stage that costs the most.
  bool names_cause = false;
  std::vector<std::string> warnings;  ///< codes
  std::string sentence;               ///< of the verdict, or of the error that ended the run
};

/// Right: the verdict names a stage that costs at least 0.9 times as much as the costliest one, or
/// says that the two are tied or cannot be told apart; it is flat, and the loss is below min_drop
/// and half a percent; or it is "spread", and no single stage costs more than that. Inconclusive:
/// the verdict says so, names every stage of the chain, or is not right under a warning that the
/// loop was not sustained or not stationary. Anything else is wrong. A stage costs its payoff.
HabitScore judge(const Report& report, const HabitChain& chain, const HabitTruth& truth);

/// The score of a run that ended in an error instead of a report: right only if no stage may have
/// the habit, and the message names the stage.
HabitScore judge_error(const std::string& message, const HabitChain& chain,
                       const HabitTruth& truth);

/// True if `text` contains `name` as a word of its own.
[[nodiscard]] bool mentions(std::string_view text, std::string_view name) noexcept;

/// A score as one line of JSON without the newline, and back. Throws Error(usage) for a line that
/// is not one.
std::string to_line(const HabitScore& score);
HabitScore habit_score_of(const std::string& line);

/// One line per chain, for people.
std::string row_header();
std::string row(const HabitScore& score);

}  // namespace cachebisect::habits
