// What the rounds after a verdict found: payoffs, the two kinds of loss, what the inline probes
// cost, whether the cache is large enough.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// One stage alone made free.
struct Payoff {
  int stage = 0;        ///< 1-based
  Estimate of_live;     ///< throughput over the live one of the same rounds
  Estimate of_ceiling;  ///< throughput over the ceiling's; the two intervals share the error
  std::string limits;   ///< what limits then: a stage, or "training step"; empty where unknown
};

/// Every interval holds at the run's confidence on its own, but where said. Shares are of
/// throughput.
struct Explanation {
  int rounds = 0;
  std::vector<Payoff> payoffs;
  int pays_most = 0;    ///< stage with the largest payoff, certified or tied with the verdict's; 0:
                        ///< not measured
  Estimate contention;  ///< of the ceiling's throughput
  Estimate starvation;  ///< of the ceiling's throughput, in these rounds
  Estimate overhead;    ///< of the live throughput without probes
  Estimate larger_cache;         ///< change of the seconds a sample from K to 2K cached ones
  double fill_seconds = 0;       ///< filling the larger cache took
  std::optional<Warning> fault;  ///< what ended these rounds early, if not the budget
};

/// Puts what was found into a report that has its verdict: payoffs, loss, overhead, fix_first,
/// next, warnings. The verdict's kind and stage stay as they are.
CACHEBISECT_API void fill_explanation(Report& report, const Explanation& explanation);

}  // namespace cachebisect
