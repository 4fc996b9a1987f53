// What each number of a report means, in plain words and in the report's own figures.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct ExplainedNumber {
  std::string number;   ///< "ceiling: 2,500 samples/s"
  std::string meaning;  ///< one or more sentences
};

/// Verdict, ceiling, live, loss and its parts, drop, payoff and cost: those that were measured.
[[nodiscard]] std::vector<ExplainedNumber> explain_results(const Report& report);
/// Confidence, rounds, detectable drop, caches, overhead and noise: those that were measured.
[[nodiscard]] std::vector<ExplainedNumber> explain_measuring(const Report& report);
/// All of these, the results first.
[[nodiscard]] std::vector<ExplainedNumber> explain_numbers(const Report& report);
/// The results that are missing, and why; empty if none is.
[[nodiscard]] std::string explain_missing(const Report& report);

}  // namespace cachebisect
