// What `cachebisect time` measured: the seconds of every batch, by part. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/observe/batch_times.hpp"

namespace cachebisect {

/// What timing costs, measured in two ways. Empty: not measured.
struct TimingCost {
  /// What timing costs the training thread per batch: the timer's calls alone, repeated without a
  /// loop around.
  std::optional<double> call_seconds{};
  int pairs = 0;     ///< of blocks with and without timing, in turns
  Estimate share{};  ///< by which blocks with timing take longer, at 95%
};

/// Memory after the run, at its peak.
struct TimingMemory {
  double bytes = 0;
  bool of_device = false;  ///< all that is in use on the device; else of this process
};

/// All batches of one batch size.
struct TimedRun {
  std::int64_t batch_size = 0;
  int workers = 0;
  std::vector<BatchTimes> batches{};
  std::uint64_t planned_batches = 0;  ///< of all epochs; 0: unknown
  double first_batch_seconds = 0;     ///< from the start of loading to the first batch
  LoopEnd ended_by = LoopEnd::epochs;
  TimingCost cost{};
  std::optional<TimingMemory> memory{};
};

struct TimingRecord {
  std::string name;       ///< of the pipeline or script
  std::string device;     ///< "CPU", "NVIDIA H200", "emulated"
  std::string step;       ///< what the step computes
  std::string precision;  ///< empty: unknown
  bool generated_data = false;
  bool emulated = false;
  bool of_script = false;       ///< whose loader does not tell whether a batch was ready
  std::vector<TimePart> parts;  ///< those that could be measured, in order
  int epochs = 0;               ///< asked for
  std::string bisect_command;   ///< that finds the stage: "cachebisect --pipeline cifar.json"
  std::string config_json;      ///< the effective pipeline, or the command
  std::string config_text{};    ///< a file that is copied in its place
  std::vector<TimedRun> runs;   ///< one per batch size, at least one
};

}  // namespace cachebisect
