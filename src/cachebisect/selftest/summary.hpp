// What many scores say together: rates with exact intervals, times, for people.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/selftest/score.hpp"

namespace cachebisect::selftest {

/// `part` of `whole`, with its 95% Clopper-Pearson interval.
struct CACHEBISECT_INTERNAL_API Rate {
  std::size_t part = 0;
  std::size_t whole = 0;
  [[nodiscard]] double share() const noexcept;  ///< 0 of none
  [[nodiscard]] Interval interval() const;
};

using Question = std::function<bool(const Score&)>;

/// How many of the scores that `asked` holds for `yes` holds for too.
CACHEBISECT_INTERNAL_API Rate rate(const std::vector<Score>& scores, const Question& asked,
                                   const Question& yes);
/// How many of the printed intervals hold the truth.
CACHEBISECT_INTERNAL_API Rate coverage(const std::vector<Score>& scores);
/// Seconds measured, quantile over the scores that `asked` holds for; none where there are none.
CACHEBISECT_INTERNAL_API std::optional<double> seconds(const std::vector<Score>& scores,
                                                       const Question& asked, double probability);

/// The table of all of them: outcomes, false alarms, coverage, times, and outcomes by what was
/// planted.
CACHEBISECT_INTERNAL_API std::string summary(const std::vector<Score>& scores);

}  // namespace cachebisect::selftest
