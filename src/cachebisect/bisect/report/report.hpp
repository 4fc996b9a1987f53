// The answer as one plain struct (docs/use/report.md). Assembled by bisect(), written by report/.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/costs/what_if_result.hpp"
#include "cachebisect/bisect/evidence/verdict_kind.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/bisect/record/settings.hpp"
#include "cachebisect/protocol/cache_facts.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/protocol/storage_counts.hpp"

namespace cachebisect {

/// What it would take to certify a verdict.
struct Needed {
  int rounds = 0;
  double seconds = 0;
};

/// Which rank of a distributed job waits longest for its data, from round to round.
struct Straggler {
  bool moves = false;  ///< certainly not always the same; false: certainly the same in most rounds
  int rank = 0;        ///< the slowest in most rounds
  int rounds = 0;      ///< in which this one was, by far
  int of_rounds = 0;
};

struct Verdict {
  VerdictKind kind = VerdictKind::inconclusive;
  std::string stage;  ///< empty if none is named
  int stage_index = 0;
  /// In a distributed job, those whose input explains most of the loss, as few as could be told.
  std::optional<RankRange> ranks;
  std::optional<Straggler> straggler{};  ///< empty: neither is certain
  Estimate drop;
  /// The stages whose drop it is, "stages 4-7 together"; empty: that of `stage` alone.
  std::string span;
  /// Drop: the stages that may cost as much as `stage`. Inconclusive: the two of which it is open
  /// which costs more, the one with the larger mean first.
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
  /// Between live and ceiling: empty without an interval, and if no part of the chain ends here.
  Estimate samples_per_second;
  std::optional<double> seconds_per_sample;  ///< the mean, of however few blocks
  std::optional<double> serve_seconds_per_sample;
  std::optional<double> predicted_samples_per_second;  ///< by the cost model
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
  /// Busy seconds per sample, replayed over live; empty for a stage that no replay ran.
  Estimate replayed_busy_ratio;
  std::optional<double> output_bytes;
  std::optional<double> padding_share;
  std::optional<double> copy_gb_per_s;  ///< of the copy, live
  std::optional<double> copy_share;     ///< of what a copy from pinned memory reaches
  Estimate payoff;
  /// The span that holds it, if no boundary next to it was visited: its drop is known only as a
  /// part of the span's.
  std::string span;
};

/// Stages that were measured together, because no boundary between them could be visited.
struct SpanReport {
  std::string name;  ///< "stages 4-7 together"
  int first = 1;     ///< index of a stage
  int last = 1;
  Estimate drop;
  bool certified = false;
  bool bursty = false;
  std::optional<double> seconds_per_sample;  ///< waterfall: tau(first-1) - tau(last)
};

/// A rank of a distributed job, or several together.
struct RankReport {
  RankRange ranks;
  Estimate payoff;  ///< samples/s of each rank, with these alone at their ceiling
};

/// What is done at a place of a pipeline file.
enum class EditKind { set, insert, remove };
inline constexpr std::array kEditKinds{EditKind::set, EditKind::insert, EditKind::remove};
CACHEBISECT_API const char* to_string(EditKind kind) noexcept;

struct Edit {
  std::string path;   ///< JSON pointer into the pipeline file; "/-" at its end: behind the last
  std::string value;  ///< JSON; "null" of what is removed
  EditKind kind = EditKind::set;
};

struct Remedy {
  std::string id;
  std::string stage;
  std::string text;
  std::string reason;
  std::vector<std::string> flags;
  std::vector<Edit> edits;  ///< of a pipeline file
  Estimate predicted;       ///< samples/s gained by it alone, by the cost model
  Estimate measured;        ///< samples/s gained by it alone, run alongside the live pipeline
  std::vector<std::string> lines{};  ///< of Python to change, or a command to run
  std::optional<Arm> arm{};          ///< that runs it; empty if none can
};

struct Warning {
  std::string code;
  std::string text;
  std::string remedy;
  std::vector<std::string> details{};  ///< lines of output, such as the end of a traceback
};

struct Loss {
  Estimate total;
  Estimate starvation;
  Estimate contention;
};

/// What the loss costs, in the currency in which the price was given.
struct Cost {
  double per_hour = 0;     ///< of the whole job
  Estimate lost_per_hour;  ///< empty if the loss was not measured
};

/// What the source reads, and what storage must give for it.
struct Reading {
  double bytes_per_sample = 0;  ///< mean
  std::optional<double> live_bytes_per_second;
  std::optional<double> ceiling_bytes_per_second;  ///< for the training step alone not to wait
};

struct Noise {
  std::optional<double> block_cv;
  Estimate null_drop;
  std::optional<double> steal_share;
  /// (highest - lowest) / highest clock of the fastest CPU; empty: not readable.
  std::optional<double> frequency_change;
  std::optional<double> other_load;       ///< mean CPUs busy with other processes
  std::optional<double> throttled_share;  ///< of the CPU quota's periods: those in which it ran out
  std::optional<double> memory_stall_share;  ///< of the time: some program waited for memory
  Estimate drift;  ///< relative change of the live seconds per sample over the rounds
};

struct ToolFloor {
  std::optional<double> ns_per_sample;
  std::optional<double> us_per_batch;
};

/// Another machine of the job.
struct NodeMachine {
  std::string name;
  std::optional<double> usable_cpus;
  Noise noise;  ///< what its counters tell; nothing of blocks
};

struct MachineReport {
  std::string cpu;
  int cores = 0;
  double usable_cpus = 0;
  std::optional<double> usable_cores;  ///< physical; hyper-threads do not count
  std::optional<int> numa_nodes;
  double memory_bytes = 0;
  std::string os;
  std::optional<bool> virtualized;
  Noise noise;
  ToolFloor floor;
  std::vector<NodeMachine> other_nodes;
};

struct Timing {
  double prepare_seconds = 0;
  double cache_seconds = 0;
  double measure_seconds = 0;
  double explain_seconds = 0;  ///< part of measure_seconds, after the verdict's rounds
  double sustain_seconds = 0;  ///< the runs in one piece; no part of measure_seconds
  double verdict_seconds = 0;  ///< wall time from the start to the verdict, its run included
  double wall_seconds = 0;     ///< the same to the end of the run
  std::optional<double> first_batch_seconds;
  std::optional<double> epoch_start_seconds;  ///< through the loader as it is
};

/// `seconds` passed before bisect() was called, such as by a bisection that led to this one.
inline void add_earlier(Timing& timing, double seconds) {
  timing.verdict_seconds += seconds;
  timing.wall_seconds += seconds;
}

/// The same, by preparing.
inline void add_preparation(Timing& timing, double seconds) {
  timing.prepare_seconds = seconds;
  add_earlier(timing, seconds);
}

/// The training loop of the live blocks.
struct LiveLoop {
  std::optional<double> starved_share;  ///< of the time: the training thread waited for a batch
  std::optional<double> ready_batches;  ///< in the ring when the training thread asked: mean
  double watched_seconds = 0;           ///< in blocks and in one piece
};

/// An arm in one piece.
struct SustainedReport {
  Estimate samples_per_second;  ///< of the second half
  double seconds = 0;           ///< for how long it ran
};

struct Measurements;

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
  std::optional<double> resident_share;  ///< of the pages, before live blocks read them
  std::optional<double> k2k_change;
  Estimate overhead;
  Verdict verdict;
  Estimate ceiling;
  Estimate live;
  LiveLoop live_loop;
  std::optional<SustainedReport> live_sustained;
  std::optional<SustainedReport> ceiling_sustained;
  Loss loss;
  std::optional<Cost> cost;              ///< empty if no price was given
  std::optional<Reading> reading;        ///< empty if it is not known what is read
  std::optional<StorageCounts> storage;  ///< of a verdict that names reading
  std::vector<BoundaryReport> boundaries;
  std::vector<StageReport> stages;
  std::vector<SpanReport> spans;
  std::vector<RankReport> ranks;  ///< empty for one process, or if not measured
  std::string next_stage;
  std::optional<double> next_samples_per_second;
  std::vector<Remedy> remedies;
  std::vector<WhatIfResult> what_ifs;
  std::vector<StepFunction> step_functions;  ///< of a step that the host limits
  std::vector<Warning> warnings;
  std::vector<BlockRecord> blocks;
  /// All that was measured, from which the rest follows (reanalyse()); empty for reports of older
  /// versions.
  std::shared_ptr<const Measurements> recording;
};

}  // namespace cachebisect
