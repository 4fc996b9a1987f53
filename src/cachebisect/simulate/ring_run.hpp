// What a run of the simulated ring is asked for, and what it yields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cachebisect/protocol/stage_counters.hpp"

namespace cachebisect {

/// What a cache holds from sample `from` of a run on.
struct CacheFill {
  std::int64_t from = 0;
  std::uint64_t first_cached = 0;
  std::uint64_t samples = 0;
};

struct RingRequest {
  int boundary = 0;     ///< replayed; 0: live
  int bypass = 0;       ///< stage (1-based) that serves its output from a cache; 0: none
  bool shadow = false;  ///< the step reads cached device batches and only paces the loading
  std::uint64_t first_index = 0;  ///< sample i of the run is sample first_index + i of the data set
  /// The run cycles through samples first_cached .. first_cached + cache_samples - 1; 0: it takes
  /// every sample once.
  std::uint64_t cache_samples = 0;
  std::uint64_t first_cached = 0;
  std::vector<CacheFill> later_fills{};  ///< in order
  bool seen = false;                     ///< the stages that run have had these samples before
  int steps = 1;
};

/// Times are seconds since the start of an empty ring.
struct RingRun {
  std::vector<double> step_ends;
  std::vector<double> starved_by;  ///< by step: seconds starved so far
  std::vector<double> trainer_by;  ///< by step: seconds that the training thread was busy so far
  std::vector<double> cpu_by;      ///< by step: CPU seconds of all threads so far
  std::size_t cycle_steps = 0;     ///< the last cycle_steps steps repeat forever; 0: no cycle found
  std::optional<double> ready_batches;  ///< mean, when the training thread asks; with workers only
  std::vector<StageCounters> stages;    ///< one per stage of the whole chain
};

}  // namespace cachebisect
