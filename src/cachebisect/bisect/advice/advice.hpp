// Remedies as they are collected: what each changes in the costs, so that its gain can be
// predicted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// A remedy, and the change to the costs; empty if that is not known.
struct Proposal {
  Remedy remedy;
  std::optional<CostChanges> changes;
  std::optional<CostChanges> other{};  ///< what it may be instead: less, or more
};

/// The proposals for one verdict. Not thread safe.
class CACHEBISECT_INTERNAL_API Advice {
 public:
  /// Keeps references to both.
  Advice(const Measurements& measured, const Waterfall& waterfall)
      : measured_(&measured), waterfall_(&waterfall) {}

  /// The first proposal of an id counts.
  void add(Proposal proposal);
  /// More workers, as far as cores (or waiting) allow. `stage` may be empty.
  void add_workers(const std::string& stage, const std::string& reason, bool waiting = false);

  /// True if the job is changed in code, not in a pipeline file.
  [[nodiscard]] bool of_code() const noexcept { return !chain().settings.of_file; }
  /// True if the job has a setting for the count of workers.
  [[nodiscard]] bool can_set_workers() const;
  [[nodiscard]] const StageDescription& described(const StageReport& stage) const {
    return chain().stages.at(static_cast<std::size_t>(stage.index) - 1);
  }
  [[nodiscard]] const ChainDescription& chain() const noexcept { return measured_->chain; }
  [[nodiscard]] const std::vector<StageReport>& stages() const noexcept {
    return waterfall_->stages;
  }
  /// The chain with the bytes that are known of samples.
  [[nodiscard]] ChainDescription chain_with_bytes() const {
    return with_bytes(chain(), *waterfall_);
  }
  /// Samples/s.
  [[nodiscard]] const Estimate& live() const noexcept { return waterfall_->live; }
  [[nodiscard]] const Estimate& ceiling() const noexcept { return waterfall_->ceiling; }
  [[nodiscard]] double usable_cpus() const noexcept { return measured_->usable_cpus(); }
  /// True if the host limits the training step, not the device.
  [[nodiscard]] bool is_host_bound() const;
  /// What the host spends a step in.
  [[nodiscard]] const std::vector<StepFunction>& step_functions() const noexcept {
    return measured_->step_functions;
  }
  /// Of the fields that collate gets, as far as the caches show.
  [[nodiscard]] const std::vector<FieldValues>& field_values() const noexcept {
    return measured_->cache.fields;
  }
  /// What is left of the bytes of batches if samples of similar size shared a batch.
  [[nodiscard]] const std::optional<double>& grouped_bytes_share() const noexcept {
    return measured_->cache.grouped_bytes_share;
  }
  /// What reading asks of storage; empty if it was not counted.
  [[nodiscard]] const std::optional<StorageCounts>& storage() const noexcept {
    return measured_->storage;
  }
  /// Bytes, when the machine was probed; 0 if unknown.
  [[nodiscard]] double available_memory() const noexcept {
    return measured_->machine.memory_available_bytes;
  }
  /// Usable, less what other processes kept busy.
  [[nodiscard]] double free_cpus() const;
  /// True if it is known how much of the stage's time is CPU time.
  [[nodiscard]] static bool observed(const StageReport& stage) noexcept {
    return stage.cpu_seconds_per_sample && stage.wait_seconds_per_sample;
  }
  /// Of an observed stage, live, per sample.
  [[nodiscard]] static double busy_seconds(const StageReport& stage) noexcept {
    return *stage.cpu_seconds_per_sample + *stage.wait_seconds_per_sample;
  }
  /// True if the stage's own waiting takes most of its time: not waiting for a core that more
  /// workers than free cores share.
  [[nodiscard]] bool mostly_waits(const StageReport& stage) const;

  [[nodiscard]] const std::vector<Proposal>& proposals() const noexcept { return proposals_; }

 private:
  const Measurements* measured_;
  const Waterfall* waterfall_;
  std::vector<Proposal> proposals_;
};

/// `stage`: the name of the stage it is about; may be empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API Proposal propose(std::string id, std::string stage,
                                                        std::string text, std::string reason,
                                                        std::vector<Edit> edits = {},
                                                        std::optional<CostChanges> changes = {},
                                                        std::vector<std::string> flags = {});

/// A stage (of its waterfall index) at `factor` times its cost.
[[nodiscard]] CACHEBISECT_INTERNAL_API CostChanges scaled_stage(const StageReport& stage,
                                                                double factor);
/// A stage made free.
[[nodiscard]] CACHEBISECT_INTERNAL_API CostChanges free_stage(const StageReport& stage);
/// The copy at `factor` times its cost.
[[nodiscard]] CACHEBISECT_INTERNAL_API CostChanges scaled_copy(const Advice& advice, double factor);

/// What to try at a read, decode or augment stage.
CACHEBISECT_INTERNAL_API void advise_on_sample_stage(Advice& advice, const StageReport& stage);
/// What to try at a stage that asks storage for too much, or for one thing after the other.
CACHEBISECT_INTERNAL_API void advise_on_storage(Advice& advice, const StageReport& stage);
/// Proposes that workers of jobs in code read several samples at once, where they can.
CACHEBISECT_INTERNAL_API void offer_read_threads(Advice& advice, const StageReport& stage);
/// Proposes the settings of worker processes that the adapter has found to matter.
CACHEBISECT_INTERNAL_API void offer_worker_settings(Advice& advice, const StageReport& stage);
/// Proposes to leave out of the batch what no step reads; with its gain at stages that cost by the
/// byte.
CACHEBISECT_INTERNAL_API void offer_unused(Advice& advice, const StageReport& stage);
/// What to try at collate, the copy or a device stage.
CACHEBISECT_INTERNAL_API void advise_on_batch_stage(Advice& advice, const StageReport& stage);
/// Proposes batches of samples of similar size, if the stage is one that pads. It changes training.
/// `where`: what follows the share of padding in the reason.
CACHEBISECT_INTERNAL_API void offer_buckets(Advice& advice, const StageReport& stage,
                                            const std::string& where);
/// What to try at the transfer from worker processes.
CACHEBISECT_INTERNAL_API void advise_on_transfer(Advice& advice, const StageReport& stage);
/// What to try where batches are copied into page-locked memory.
CACHEBISECT_INTERNAL_API void advise_on_pinning(Advice& advice, const StageReport& stage);
/// What to try at the training step.
CACHEBISECT_INTERNAL_API void advise_on_training_step(Advice& advice);
/// Proposes a cache in memory behind the stage, or further on, where the output is the same in
/// every epoch and memory holds some of the samples.
CACHEBISECT_INTERNAL_API void offer_cache(Advice& advice, const StageReport& stage);
/// Proposes a cache behind a stage whose output is another in every epoch, which gives it more than
/// once. It changes training. Of pipeline files alone.
CACHEBISECT_INTERNAL_API void offer_reuse(Advice& advice, const StageReport& stage);
/// Proposes a cache in a file there, where memory does not hold all samples, or where an epoch
/// takes so long that later runs gain by it. Of pipeline files alone.
CACHEBISECT_INTERNAL_API void offer_disk_cache(Advice& advice, const StageReport& stage);
/// Proposes to write the data set once behind the stage, if its output is the same in every epoch.
CACHEBISECT_INTERNAL_API void offer_prepared(Advice& advice, const StageReport& stage);
/// The command that does so, of a pipeline file.
[[nodiscard]] std::string prepare_command(const Advice& advice, const StageReport& stage);
/// Proposes to decode no more of an image than the random crop behind it keeps, or than training
/// sees of it.
CACHEBISECT_INTERNAL_API void offer_less_decoding(Advice& advice, const StageReport& decode);
/// Proposes to crop before the stage instead of behind it, if outputs stay the same.
CACHEBISECT_INTERNAL_API void offer_order(Advice& advice, const StageReport& stage);
/// Proposes to make samples smaller before the stage, where that changes outputs, or may.
CACHEBISECT_INTERNAL_API void offer_other_order(Advice& advice, const StageReport& stage);
/// What to try at a cache that limits.
CACHEBISECT_INTERNAL_API void advise_on_cache(Advice& advice, const StageReport& stage);
/// Proposes to run an element-wise stage on the device: there it costs next to nothing, and the
/// copy shrinks. Nothing for other stages.
CACHEBISECT_INTERNAL_API void offer_device(Advice& advice, const StageReport& stage);
/// Proposes to cast images to 16 bits before the copy, where the training step of a pipeline file
/// computes in 16 bits. It changes training.
CACHEBISECT_INTERNAL_API void offer_half(Advice& advice, const StageReport& copy);
/// Fields of whole numbers in fewer bits, at the copy of a pipeline file.
CACHEBISECT_INTERNAL_API void offer_narrow(Advice& advice, const StageReport& copy);
/// A field that is mostly zeros as positions and values, at the copy of a pipeline file.
CACHEBISECT_INTERNAL_API void offer_sparse(Advice& advice, const StageReport& copy);
/// Samples of different sizes end to end, at the copy of a pipeline file that pads them before it.
CACHEBISECT_INTERNAL_API void offer_ragged(Advice& advice, const StageReport& copy);
/// As offer_device(), for all stages that make floats of uint8.
CACHEBISECT_INTERNAL_API void offer_bytes(Advice& advice);

}  // namespace cachebisect
