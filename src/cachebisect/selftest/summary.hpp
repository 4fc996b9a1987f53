// A summary of many scores: rates with exact intervals, and times.
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
  [[nodiscard]] double share() const noexcept;  ///< 0 if `whole` is 0
  [[nodiscard]] Interval interval() const;
};

using ScorePredicate = std::function<bool(const Score&)>;

/// The scores for which `yes` holds, of those for which `among` holds.
CACHEBISECT_INTERNAL_API Rate rate(const std::vector<Score>& scores, const ScorePredicate& among,
                                   const ScorePredicate& yes);
/// The printed intervals that hold the truth.
CACHEBISECT_INTERNAL_API Rate coverage(const std::vector<Score>& scores);
/// Quantile of the seconds of measuring, over the scores for which `among` holds; empty if there
/// are none.
CACHEBISECT_INTERNAL_API std::optional<double> seconds(const std::vector<Score>& scores,
                                                       const ScorePredicate& among,
                                                       double probability);

/// A table for people: outcomes, false alarms, coverage, times, and outcomes by what was planted.
CACHEBISECT_INTERNAL_API std::string summary(const std::vector<Score>& scores);

}  // namespace cachebisect::selftest
