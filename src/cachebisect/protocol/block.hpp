// A block: consecutive steps in one arm, timed as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/protocol/arm.hpp"
#include "cachebisect/protocol/device_reading.hpp"
#include "cachebisect/protocol/stage_counters.hpp"
#include "cachebisect/protocol/step_function.hpp"

namespace cachebisect {

struct BlockRequest {
  Arm arm;
  int steps = 8;
  int warmup_steps = 2;  ///< untimed, before the timed ones
  std::uint64_t seed = 0;
  /// The timed steps are also timed in so many groups of equal length, as far as they divide.
  int groups = 1;
  /// The block ends after the group during which so many seconds have passed; 0: never early.
  double max_seconds = 0;
  /// Finds out which functions the timed steps spend their time in; they may be slower.
  bool profile = false;
};

/// The rank of a distributed job that waited longest for its data in a block.
struct SlowestRank {
  int rank = 0;
  double starved_seconds = 0;
  double next_starved_seconds = 0;  ///< of the rank that waited longest but for this one
};

/// Counts and times are of the timed steps unless noted otherwise.
struct BlockResult {
  double start_seconds = 0;  ///< on the replayer's clock
  /// Device completion of the last timed step minus that of the last warm-up step.
  double seconds = 0;
  int steps = 0;
  int warmup_steps = 0;
  /// Seconds per sample of each group; empty if the request asked for one group.
  std::vector<double> group_taus;
  std::uint64_t samples = 0;
  double cpu_seconds = 0;      ///< of the process
  double starved_seconds = 0;  ///< training thread waiting for a batch
  std::uint64_t skipped = 0;   ///< damaged samples
  std::vector<std::string> first_skipped;
  /// Share of the pages read by the block that were in memory before; empty if not measured.
  std::optional<double> resident_share;
  bool is_void = false;  ///< the process was suspended during the block
  double padding_share = 0;
  double first_batch_seconds = 0;     ///< from the block's start to its first batch
  std::vector<StageCounters> stages;  ///< one per stage of the chain; empty if not observed
  /// Training thread busy: neither starved nor waiting for the device.
  double trainer_seconds = 0;
  /// Mean number of batches ready in the ring at each request of the training thread; empty without
  /// workers.
  std::optional<double> ready_batches;
  /// Share of the step ends at which the device had completed all that was queued (in a loop of
  /// this tool: of the submissions of the next step); empty if not observed.
  std::optional<double> device_idle_share;
  /// The clock of the fastest CPU when the block ended, by the frequency driver; empty without one.
  std::optional<double> clock_mhz;
  /// The reading of the accelerator when the block ended.
  DeviceReading device;
  std::vector<std::string> not_kept;          ///< files that the steps saved, away from their place
  std::vector<StepFunction> step_functions;   ///< largest share first; if asked for
  std::optional<SlowestRank> slowest_rank{};  ///< empty for less than two ranks with loaders
};

}  // namespace cachebisect
