// Measures how much longer a batch takes because it is timed.
#pragma once

#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect {

/// Untimed batches at the beginning of a block: until the loader's slots have been used once.
[[nodiscard]] CACHEBISECT_INTERNAL_API int untimed_batches(const Job& job);

/// Repeats the timer's calls; then runs pairs of blocks, with and without timing, which of them
/// first in turns, for at most half as long as `run` took, and 8 s. No pairs are run if three take
/// longer than that, or `stop` ends them.
[[nodiscard]] CACHEBISECT_INTERNAL_API TimingCost measure_timing_cost(const Job& job,
                                                                      PipelineReplayer& replayer,
                                                                      const TimedRun& run,
                                                                      const std::stop_token& stop);

}  // namespace cachebisect
