// How much slower one arm is than another, with an interval.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/estimate.hpp"
#include "cachebisect/bisect/record/round_table.hpp"

namespace cachebisect {

/// Log of the seconds per sample of one arm over those of another.
struct LogRatio {
  double value = 0;                  ///< of all seconds over all samples
  std::optional<Interval> interval;  ///< holds the value; empty while either end is open
};

/// Columns `slow` over `fast` by a ConfidenceSequence at error `alpha`, both directions together.
/// Needs a round that ran both.
[[nodiscard]] CACHEBISECT_INTERNAL_API LogRatio log_ratio(const RoundTable& rounds, int slow,
                                                          int fast, double alpha);

/// The ratio itself.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate ratio_of(const LogRatio& ratio);
/// The share of throughput lost: 1 - exp(-ratio).
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate drop_of(const LogRatio& ratio);
/// The relative change: exp(ratio) - 1.
[[nodiscard]] CACHEBISECT_INTERNAL_API Estimate change_of(const LogRatio& ratio);
/// True if the interval is no wider than `half_width` to either side.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_narrow(const LogRatio& ratio, double half_width);

}  // namespace cachebisect
