// The training job as reports and remedies need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/protocol/cache_use.hpp"
#include "cachebisect/protocol/device_facts.hpp"
#include "cachebisect/protocol/job_settings.hpp"
#include "cachebisect/protocol/kinds.hpp"
#include "cachebisect/protocol/rank_range.hpp"

namespace cachebisect {

/// Stages count from 1 in chain order.
struct StageDescription {
  std::string name;
  std::string type;  ///< "category.name"
  Category category = Category::custom;
  StageKind kind = StageKind::sample;
  bool random = false;
  bool stateful = false;
  bool side_effects = false;
  bool cacheable = true;  ///< in REAL training: neither it nor any stage before it is random
  std::string output;     ///< "image uint8 [32, 32, 3], label int64 []"
  std::optional<double> output_bytes;  ///< per sample at this boundary (mean if it varies)
  Held held = Held::host;              ///< where the output of this stage is cached
  bool elementwise = false;            ///< each output value depends on one input value alone
  bool makes_floats = false;           ///< of bytes: four times as many bytes
  std::optional<CacheUse> cache{};     ///< of a cache stage, when the chain was described
};

/// The whole loop with one count of workers.
struct WorkerTrial {
  int workers = 0;
  double samples_per_second = 0;  ///< median of short blocks
  Interval interval;              ///< of the median, at 95%; of all blocks if they are too few
};

/// How `workers: auto` was resolved.
struct WorkerSearch {
  std::vector<WorkerTrial> trials;  ///< by workers
  bool certain = true;  ///< the blocks tell, at 95%, that each count tried is faster or not
  /// What kept larger counts from being tried: "workers", "memory", "time"; empty: nothing.
  std::string limited_by;
};

/// What a batch consists of when a worker process sends it.
struct BatchContents {
  std::uint64_t objects = 0;  ///< other values than tensors: pickled one by one
  std::uint64_t tensors = 0;  ///< each in a shared memory file of its own
  /// Tensors if those of one type and shape, but for the first dimension, are concatenated.
  std::uint64_t packed_tensors = 0;
  double bytes = 0;
  double unused_bytes = 0;  ///< of tensors that no step has read, as far as that is known
};

/// What sending a batch from a worker process costs, in seconds.
struct SendingCost {
  double worker_seconds = 0;   ///< beyond what loading in the training process costs
  double trainer_seconds = 0;  ///< of the thread that receives it
};

/// What a sample from a cache that processes share costs the one that asks for it.
struct CacheHit {
  double seconds = 0;
  double seconds_per_byte = 0;
  double within = 1;  ///< factor within which both are known
};

/// A machine of a distributed job.
struct NodeDescription {
  std::string name;
  RankRange ranks;
};

struct ChainDescription {
  JobSettings settings;
  std::string name;
  std::string file;
  std::string sha256;
  std::string effective_json;  ///< the whole spec after defaults; empty if there is none
  std::vector<StageDescription> stages;
  std::int64_t batch_size = 1;
  int workers = 0;
  std::optional<WorkerSearch> worker_search;  ///< empty if the count was given
  LoaderKind loader = LoaderKind::sample;
  int ring_slots = 0;
  /// Each arm goes on where it was: the batches in its queue, and samples in work, are kept between
  /// its blocks. The first block of an arm has the untimed steps that this needs.
  bool keeps_queues = false;
  int train_threads = 1;
  int worker_threads = 1;  ///< that each worker computes with
  int local_ranks = 1;     ///< training processes of the job on this machine
  /// Memory that a worker process shares with no other; empty: unknown, or workers are threads.
  std::optional<double> worker_bytes;
  /// From the start of an epoch to its first batch, through the loader as it is; empty: unknown.
  std::optional<double> epoch_start_seconds;
  bool persistent_workers = false;  ///< they outlive an epoch
  bool worker_processes = false;    ///< not threads: batches must be sent
  bool profiles_steps = false;      ///< can tell which functions a step spends its time in
  bool counts_storage = false;      ///< can tell what reading asks of storage
  std::optional<BatchContents> batch_contents;
  std::optional<SendingCost> sending;  ///< measured, where batches are not sent now
  std::optional<CacheHit> cache_hit;   ///< measured, of jobs in code; empty: it was not
  std::uint64_t samples = 0;           ///< in the data set
  /// That one process reads in an epoch; empty: unknown.
  std::optional<std::uint64_t> epoch_samples;
  bool generated_data = false;
  bool shuffle = true;
  std::uint64_t seed = 1;
  /// Chooses the place in the epoch where reading began; empty if the replayer has no such choice.
  std::optional<std::uint64_t> order_nonce;
  std::string train;  ///< "lenet, sgd, fp32", "callback", "emulated"
  bool weights_restored = true;
  int sync_every = 0;  ///< steps between synchronisations; 0: never
  bool copy_pinned = true;
  std::optional<bool> copy_non_blocking = true;  ///< empty: unknown
  int copy_prefetch = 0;
  int ring_prefetch = 0;
  /// Batches from one step of the optimizer to the next: more than 1 with gradient accumulation.
  int batches_per_step = 1;
  DeviceKind device_kind = DeviceKind::cpu;
  std::string device_name;
  bool device_clock_falls = false;  ///< under load; known only of the emulated device
  std::optional<double> device_memory_bytes;
  std::optional<double> copy_gb_per_s;  ///< from pinned memory: configured, or measured
  DeviceFacts device_facts;
  /// Why "auto" chose the cpu on a machine with a GPU; empty if it did not.
  std::string gpu_problem;
  std::optional<double> usable_cpus;  ///< of the machine that runs the chain; empty: this one's
  int ranks = 1;  ///< processes that train together; every figure is that of one of them
  /// Ranks that take part in every step, and read nothing (tensor and pipeline parallel jobs).
  int ranks_without_loader = 0;
  std::vector<NodeDescription> nodes;  ///< of a job of several machines, by rank; else empty
};

/// Every clock may fall under load but that of an emulated device which was not told to.
[[nodiscard]] inline bool step_may_slow_down(const ChainDescription& chain) noexcept {
  return chain.device_kind != DeviceKind::emulated || chain.device_clock_falls;
}

}  // namespace cachebisect
