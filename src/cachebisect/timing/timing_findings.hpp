// What the shares of a timed run tell, and what they cannot tell.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/timing/timing_summary.hpp"

namespace cachebisect {

struct TimingFinding {
  std::string code;       ///< "load_share", "copy_share", "slow_batches", "whole_step"
  std::string text;       ///< what was seen, in its own numbers
  std::string remedy;     ///< what to do, or what it does not mean
  std::string command{};  ///< that tells more; may be empty
};

/// The findings about the run of record.runs that has this summary.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<TimingFinding> timing_findings(
    const TimingRecord& record, const TimingSummary& summary);

}  // namespace cachebisect
