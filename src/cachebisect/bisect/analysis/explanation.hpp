// What the rounds after a verdict show: payoffs, the two kinds of loss, the cost of the inline
// probes, whether the cache is large enough.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"
#include "cachebisect/bisect/phases/rank_payoff.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// One stage alone made free.
struct Payoff {
  int stage = 0;  ///< 1-based
  Estimate samples_per_second;
};

/// Each interval holds at the run's confidence on its own. Shares are of throughput; empty if not
/// measured.
struct Explanation {
  std::vector<Payoff> payoffs;
  /// The stage (1-based) that is worth most to fix: the largest payoff if it certainly exceeds that
  /// of the stage named, or if the cost model says so too; else the stage named; 0: not measured.
  int pays_most = 0;
  bool pays_most_certainly = true;      ///< false: the cost model has decided
  std::vector<RankPayoff> ranks;        ///< of a distributed job
  std::optional<RankRange> slow_ranks;  ///< whose input alone explains most of the loss
  std::string limits_next;              ///< what limits with that stage free; empty if unknown
  Estimate contention;                  ///< of the ceiling's throughput
  Estimate starvation;                  ///< of the ceiling's throughput, in these rounds
  Estimate overhead;                    ///< of the live throughput without probes
  Estimate larger_cache;  ///< relative change of the seconds per sample from K to 2K cached ones
};

/// `forecast` may be empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API Explanation explain(const Measurements& measured,
                                                           const VerdictState& state,
                                                           const std::optional<Forecast>& forecast);

}  // namespace cachebisect
