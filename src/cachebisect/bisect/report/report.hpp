// The answer as one plain struct (docs/report.md). Made by bisect(), written by
// report/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// A figure with its interval; both absent when it was not measured.
struct Estimate {
  std::optional<double> value;
  std::optional<Interval> interval;
};

enum class VerdictKind { anomaly, drop, spread, flat, inconclusive };
CACHEBISECT_API const char* to_string(VerdictKind kind) noexcept;

struct Needed {
  int rounds = 0;
  double seconds = 0;
};

struct Verdict {
  VerdictKind kind = VerdictKind::inconclusive;
  std::string stage;  ///< empty when none is named
  int stage_index = 0;
  Estimate drop;
  std::vector<std::string> tied_with;
  std::vector<std::string> shares;  ///< spread: the fewest stages that hold half of the loss
  std::string fix_first;
  std::optional<double> detectable_drop;
  int rounds = 0;
  std::optional<double> certified_after_seconds;
  std::optional<Needed> needed;
  std::string text;
};

struct BoundaryReport {
  int index = 0;
  std::string after;  ///< stage name; empty at boundary 0
  Held held = Held::none;
  bool visited = false;
  Estimate samples_per_second;
  std::optional<double> seconds_per_sample;
  std::optional<double> serve_seconds_per_sample;
  std::optional<double> predicted_samples_per_second;  ///< by the fitted law
  int blocks = 0;
  std::optional<double> item_bytes;
};

struct StageReport {
  int index = 0;
  std::string name;
  std::string type;
  Category category = Category::custom;
  bool random = false;
  bool cacheable = true;
  Estimate drop;
  bool certified = false;
  bool bursty = false;
  std::optional<double> seconds_per_sample;       ///< waterfall: tau(s-1) - tau(s)
  std::optional<double> cpu_seconds_per_sample;   ///< inline
  std::optional<double> wait_seconds_per_sample;  ///< inline: busy minus CPU
  std::optional<double> busy_share;               ///< of the workers' time, live
  std::optional<double> output_bytes;
  std::optional<double> padding_share;
  Estimate payoff;
  std::string span;  ///< "stages 4-7 together" when its boundaries were not visited
};

struct Edit {
  std::string path;   ///< JSON pointer into the pipeline file
  std::string value;  ///< JSON
};

struct Remedy {
  std::string id;
  std::string stage;
  std::string text;
  std::string reason;
  std::vector<std::string> flags;
  std::vector<Edit> edits;
  std::optional<double> predicted;  ///< samples/s gained by it alone, by the fitted law
  std::optional<double> measured;   ///< samples/s gained by it alone, run beside the live pipeline
};

/// A change in thought, predicted by the law and, where asked for and possible, run.
struct WhatIfReport {
  std::string change;  ///< as the user wrote it: "workers=4", "crop=free", "decode/2"
  Estimate predicted;  ///< samples/s
  Estimate measured;   ///< samples/s
  std::string note;    ///< why a figure is missing, or what it supposes; may be empty
};

struct Warning {
  std::string code;
  std::string text;
  std::string remedy;
};

struct BlockRecord {
  int round = 0;  ///< -1: pilot
  Arm arm;
  BlockResult result;
};

struct Loss {
  Estimate total;
  Estimate starvation;
  Estimate contention;
};

struct Noise {
  std::optional<double> block_cv;
  Estimate null_drop;
  std::optional<double> steal_share;
  std::optional<double>
      frequency_change;  ///< (most - least) / most of the fastest CPU's clock; none: not readable
  std::optional<double> other_load;          ///< mean CPUs busy with other processes
  std::optional<double> throttled_share;     ///< of the CPU quota's periods, in which it ran out
  std::optional<double> memory_stall_share;  ///< of the time, some program waited for memory
  Estimate drift;  ///< of live seconds a sample from the first to the last round, as a share
};

struct ToolFloor {
  std::optional<double> ns_per_sample;
  std::optional<double> us_per_batch;
};

struct MachineReport {
  std::string cpu;
  int cores = 0;
  double usable_cpus = 0;
  double memory_bytes = 0;
  std::string os;
  std::optional<bool> virtualized;
  Noise noise;
  ToolFloor floor;
};

struct Timing {
  double prepare_seconds = 0;
  double cache_seconds = 0;
  double measure_seconds = 0;
  double explain_seconds = 0;  ///< of measure_seconds, after the verdict's rounds
  std::optional<double> first_batch_seconds;
};

struct BisectSettings {
  double confidence = 0.99;
  double min_drop = 0.05;
  double budget_seconds = 60;
  std::string io = "as-is";
  std::uint64_t seed = 1;
};

struct Report {
  std::string command = "bisect";
  std::string started;  ///< ISO 8601, UTC
  bool interrupted = false;
  Timing timing;
  MachineReport machine;
  ChainDescription chain;  ///< device and pipeline parts
  std::uint64_t skipped = 0;
  std::vector<std::string> first_skipped;
  BisectSettings settings;
  CacheFacts cache;
  std::optional<double> k2k_change;
  Estimate overhead;
  Verdict verdict;
  Estimate ceiling;
  Estimate live;
  std::optional<double>
      starved_share;  ///< of the live time, the training thread waited for a batch
  std::optional<double> ready_batches;  ///< in the ring when it asked, mean
  Loss loss;
  std::vector<BoundaryReport> boundaries;
  std::vector<StageReport> stages;
  std::string next_stage;
  std::optional<double> next_samples_per_second;
  std::vector<Remedy> remedies;
  std::vector<WhatIfReport> what_ifs;
  std::vector<Warning> warnings;
  std::vector<BlockRecord> blocks;
};

}  // namespace cachebisect
