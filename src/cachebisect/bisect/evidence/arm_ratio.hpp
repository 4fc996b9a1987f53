// How much slower one arm is than another, with an interval.
#pragma once

#include <optional>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/confidence_sequence.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// log(seconds per sample of one arm / seconds per sample of another).
struct LogRatio {
  double value = 0;  ///< from RoundTable::tau()
  /// Contains the value; empty while an end is infinite, or if every ratio is rejected.
  std::optional<Interval> interval;
};

/// The log ratio of columns `slow` and `fast`, with the interval of a ConfidenceSequence at error
/// `alpha` (both directions together). Needs at least one round that ran both.
[[nodiscard]] CACHEBISECT_INTERNAL_API LogRatio log_ratio(const RoundTable& rounds, int slow,
                                                          int fast, double alpha);

/// The same from evidence about log ratios; `value` is that of the means.
[[nodiscard]] CACHEBISECT_INTERNAL_API LogRatio log_ratio(const ConfidenceSequence& evidence,
                                                          double value);

/// The ratio itself: exp(log ratio).
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate ratio_of(const LogRatio& ratio);
/// The share of throughput lost: 1 - exp(-log ratio).
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate drop_of(const LogRatio& ratio);
/// The relative change: exp(log ratio) - 1.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate change_of(const LogRatio& ratio);
/// The one whose interval is narrower in relation to its value; the first if neither has one.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate narrower(const Estimate& first,
                                                         const Estimate& second);
/// True if there is an interval and it is at most 2 x `half_width` wide.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_narrow(const LogRatio& ratio, double half_width);

}  // namespace cachebisect
