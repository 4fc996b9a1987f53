// Everything that a run of bisect() measured: a plain value, the only input of the analysis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/bisect/record/round_table.hpp"
#include "cachebisect/bisect/record/settings.hpp"
#include "cachebisect/protocol/cache_facts.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/protocol/storage_counts.hpp"

namespace cachebisect {

/// The rounds that led to the verdict.
struct VerdictRounds {
  RoundTable table;             ///< of boundaries
  std::vector<int> candidates;  ///< boundaries that may be visited
  std::vector<int> suspects;    ///< stages (1-based) that the pilot suspected
  double round_seconds = 0;     ///< expected length of one more round
  std::optional<double> certified_after_seconds;
  double seconds = 0;  ///< of the budget, used when they ended
};

/// The same boundary served from K and from 2K samples.
struct CacheRounds {
  RoundTable table;
  double fill_seconds = 0;
};

/// The rounds that explain the verdict.
struct ExplainRounds {
  std::optional<RoundTable> arms;  ///< live first, then the ceiling if there is a loss to explain
  std::optional<CacheRounds> caches;
  std::string fault;  ///< the error that ended them early; empty: none
};

/// A what-if or remedy to be run alongside the live pipeline.
struct VerifiedArm {
  Arm arm;
  std::string fault;  ///< why it was not run, or not completed
};

struct VerifyRounds {
  std::vector<VerifiedArm> arms;
  RoundTable table;  ///< live first, then the arms that could be run
};

/// Live and ceiling in one piece each; not evidence about parts.
struct SustainedRuns {
  BlockResult live;
  BlockResult ceiling;
  std::vector<BlockResult> shorter_live;  ///< runs of live that ended slowly, and were repeated
  double seconds = 0;                     ///< that both took; not measuring
};

/// What disturbed another machine of the job while the verdict's rounds ran.
struct NodeDisturbance {
  std::string node;
  std::optional<double> usable_cpus;  ///< by affinity and quota; empty: not reported
  Disturbance seen;
};

/// What ended a run after its verdict.
struct RunFault {
  std::string what;
  std::vector<std::string> details;  ///< lines that explain it
};

struct Measurements {
  std::string started;  ///< ISO 8601, UTC
  bool interrupted = false;
  ChainDescription chain;
  BisectSettings settings;
  Questions questions;
  MachineInfo machine;
  Disturbance disturbance;  ///< of the machine, while the verdict's rounds ran
  std::vector<NodeDisturbance> other_nodes;
  CacheFacts cache;
  double prepare_seconds = 0;    ///< before the caches were filled
  double measure_seconds = 0;    ///< of the budget, used by all rounds
  double refill_seconds = 0;     ///< spent on filling the caches again; not measuring
  double verdict_seconds = 0;    ///< of the replayer's clock, from the start to the verdict
  double wall_seconds = 0;       ///< the same until now
  bool verdict_reached = false;  ///< the verdict's rounds have ended
  VerdictRounds verdict;
  std::optional<SustainedRuns> sustained;
  ExplainRounds explain;
  VerifyRounds verify;
  std::vector<StepFunction> step_functions;  ///< of a step that the host limits
  std::optional<StorageCounts> storage;      ///< of a verdict that names reading
  std::optional<RunFault> fault;             ///< empty: the run came to its end
  std::vector<BlockRecord> blocks;

  [[nodiscard]] int stages() const noexcept { return static_cast<int>(chain.stages.size()); }
  /// CPUs that the chain may use.
  [[nodiscard]] double usable_cpus() const noexcept {
    return chain.usable_cpus.value_or(machine.usable_cpus);
  }
  /// Without the second and further hyper-threads of a core, as far as that is known.
  [[nodiscard]] double usable_cores() const noexcept {
    return chain.usable_cpus.value_or(physical_cores(machine));
  }
};

}  // namespace cachebisect
