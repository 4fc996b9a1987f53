// What the bisector sees of a training job, and all it sees. Every type is plain and serialisable,
// so that a simulation, a C++ pipeline or another process can answer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_watch.hpp"

namespace cachebisect {

/// A stage as reports and advice need it. Stages count from 1.
struct StageDescription {
  std::string name;
  std::string type;
  std::string category;  ///< read, decode, augment, collate, copy, device, synthetic
  std::string kind;      ///< source, sample, collate, batch, copy, device
  bool random = false;
  bool stateful = false;
  bool side_effects = false;
  bool cacheable = true;  ///< in REAL training: neither it nor anything before it is random
  std::string output;     ///< "image uint8 [32, 32, 3], label int64 []"
  std::optional<double> output_bytes;  ///< of one sample at this boundary (mean where it varies)
  std::string held;                    ///< of its boundary: host | device
};

struct ChainDescription {
  std::string name;
  std::string file;
  std::string sha256;
  std::string effective_json;  ///< the whole spec after defaults; empty when there is none
  std::vector<StageDescription> stages;
  std::int64_t batch_size = 1;
  int workers = 0;
  int ring_slots = 0;
  int train_threads = 1;
  std::uint64_t samples = 0;  ///< in the data set
  bool generated_data = false;
  bool shuffle = true;
  std::uint64_t seed = 1;
  std::string train;  ///< "lenet, sgd, fp32", "callback", "emulated"
  bool weights_restored = true;
  int sync_every = 0;
  bool copy_pinned = true;
  bool copy_non_blocking = true;
  int copy_prefetch = 0;
  int ring_prefetch = 0;
  std::string device_kind;  ///< cpu | cuda | emulated
  std::string device_name;
  std::optional<double> device_memory_bytes;
  std::optional<double> copy_gb_per_s;
  std::optional<double> usable_cpus;  ///< of the machine that runs the chain; none: this one's
};

enum class ArmKind { replay, bypass, shadow, live, null };
CACHEBISECT_API const char* to_string(ArmKind kind) noexcept;

/// What a block measures.
/// replay: boundary k's output comes from its cache, what follows runs live; 0 is the live
/// pipeline. bypass: everything runs live, but stage s's own work is skipped and its cached output
/// used. shadow: the step reads cached device batches while everything else runs as live into
/// buffers that are dropped, paced: at each step one finished slot is released if there is one,
/// without waiting. live: replay at 0 with overrides. null: the same as another arm, run twice.
struct Arm {
  ArmKind kind = ArmKind::replay;
  int boundary = 0;                                ///< replay, null
  int stage = 0;                                   ///< bypass (1-based)
  std::map<std::string, std::string> overrides{};  ///< live: what-if, path -> JSON value
  bool observed = true;             ///< inline probes run; false: to measure what they cost
  std::uint64_t cache_samples = 0;  ///< replay: serve only the first so many samples; 0: all
  friend bool operator==(const Arm&, const Arm&) = default;
  // The checks take the comparison with zero that the compiler writes for a null pointer, a bool.
  // NOLINTNEXTLINE(modernize-use-nullptr, readability-implicit-bool-conversion)
  friend auto operator<=>(const Arm&, const Arm&) = default;
};

struct BlockRequest {
  Arm arm;
  int steps = 8;
  int warmup_steps = 2;
  std::uint64_t seed = 0;
};

struct InlineCounters {
  double busy_seconds = 0;
  double cpu_seconds = 0;
  double slot_write_seconds = 0;  ///< of all samples written into batch slots
  std::uint64_t samples = 0;
  double serial_seconds =
      0;  ///< in a section that the whole pipeline passes one by one, waits not counted
  std::uint64_t slot_writes = 0;  ///< samples behind slot_write_seconds
};

/// Times are seconds; start is on the replayer's clock.
struct BlockResult {
  double start_seconds = 0;
  double seconds =
      0;  ///< device completion of the last timed step minus that of the last warm-up step
  int steps = 0;
  int warmup_steps = 0;
  std::uint64_t samples = 0;   ///< of the timed steps
  double cpu_seconds = 0;      ///< of the process, over the timed steps
  double starved_seconds = 0;  ///< the training thread waited for a batch
  std::uint64_t skipped = 0;
  std::vector<std::string> first_skipped;
  std::optional<double> resident_share;  ///< of the files read, when measured
  bool is_void = false;                  ///< the process was suspended meanwhile
  double padding_share = 0;
  double first_batch_seconds = 0;      ///< from the block's start to its first batch
  std::vector<InlineCounters> stages;  ///< one a stage of the chain; empty when not observed
  double trainer_seconds =
      0;  ///< the training thread was busy, neither starved nor waiting for the device
  std::optional<double>
      ready_batches;  ///< in the ring when the training thread asked: mean; none without workers
};

struct CacheBudget {
  std::optional<double> host_bytes;    ///< none: 25% of the memory available
  std::optional<double> device_bytes;  ///< none: 10% of what is free
};

struct CacheFacts {
  std::uint64_t samples = 0;  ///< K, the same at every boundary
  double bytes_host = 0;
  double bytes_device = 0;
  std::string limited_by;  ///< empty, "data set", "host budget", "device budget"
  double seconds = 0;
  std::optional<double> resident_share;
  std::vector<double> serve_seconds_per_sample;  ///< rho_k, one a boundary 0..n
  std::vector<double> item_bytes;                ///< of one sample, one a boundary 0..n
  bool sizes_vary = false;  ///< items of one boundary differ in size by more than 1%
  std::optional<double> floor_seconds_per_sample;  ///< what the tool itself costs here
  std::optional<double> floor_seconds_per_batch;
};

class CACHEBISECT_API Replayer {
 public:
  virtual ~Replayer();
  [[nodiscard]] virtual ChainDescription describe() const = 0;
  [[nodiscard]] virtual bool supports(const Arm& arm) const = 0;
  /// Fills the caches. Throws Error(usage) when the budgets hold not even one batch.
  virtual CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) = 0;
  /// Fills the caches anew with the next `samples` samples of the data set (0: as many as before).
  /// None where this replayer cannot, or data set or budget do not hold so many: the caches are as
  /// before. Throws as prepare() does.
  virtual std::optional<CacheFacts> refill(std::uint64_t samples, const std::stop_token& stop);
  /// Weights back to their start; the cache position that the round's blocks share moves on.
  virtual void begin_round() = 0;
  /// Runs one block; live ones also before prepare(). Throws what the pipeline or the step throws;
  /// Error(interrupted) on `stop`.
  virtual BlockResult run(const BlockRequest& request, const std::stop_token& stop) = 0;
  /// Seconds now. The bisector reads time from nowhere else.
  [[nodiscard]] virtual double clock() const = 0;
  /// Counters of the machine that the blocks run on; default: this one. Called between blocks.
  [[nodiscard]] virtual MachineReading read_machine() const;
};

}  // namespace cachebisect
