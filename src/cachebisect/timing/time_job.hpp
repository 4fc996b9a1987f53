// Times every batch of a training job, as it runs: nothing is cached, nothing is replaced.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect {

struct TimingOptions {
  int epochs = 2;                 ///< at least 1
  std::uint64_t max_batches = 0;  ///< 0: no limit
  double max_seconds = 0;         ///< 0: no limit; checked every few batches
  bool measure_cost = true;  ///< what timing costs; takes up to half as long again, at most 8 s
  std::stop_token stop{};
  std::function<void(const std::string& line)> progress{};  ///< may be empty
};

/// Runs the epochs after a few untimed batches. A run that `stop` ends has the batches until then.
/// Throws what the pipeline and the step throw.
[[nodiscard]] CACHEBISECT_INTERNAL_API TimedRun time_job(const Job& job,
                                                         const TimingOptions& options);
/// The parts that this job's batches have.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<TimePart> time_parts(const Job& job);
/// What the record says of the job; without runs.
[[nodiscard]] CACHEBISECT_INTERNAL_API TimingRecord timing_record_of(const Job& job,
                                                                     const TimingOptions& options);

}  // namespace cachebisect
