// Runs one block in one arm: live, replayed from a boundary, with a stage bypassed, or shadowed.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "cachebisect/protocol/block.hpp"
#include "cachebisect/replay/cache/boundary_cache.hpp"
#include "cachebisect/replay/cache/unseen_samples.hpp"
#include "cachebisect/replay/cache_places.hpp"
#include "cachebisect/replay/kept_loaders.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/replay/reading/live_reading.hpp"
#include "cachebisect/replay/trainer.hpp"

namespace cachebisect {

/// One block to run.
struct ArmBlock {
  const Arm& arm;
  BlockSteps steps;  ///< more untimed ones are run if the arm's ring is empty and should not be
  double item_bytes = 0;  ///< unseen: per sample, at its boundary
  const std::stop_token& stop;
  LoadRecorder* recorder = nullptr;  ///< of what the workers do; may be null
};

/// Throws what the loader and the step throw. One thread at a time.
class ArmRunner {
 public:
  /// Keeps references to both.
  ArmRunner(Trainer& trainer, const BoundaryCache& cache, const ReplayOptions& options)
      : trainer_(&trainer),
        cache_(&cache),
        kept_(trainer.pipeline, *trainer.device, trainer.loader_options, options.keep_queues),
        reading_(options.io, cache),
        unseen_(trainer.pipeline, trainer.order) {}

  /// The caches hold other samples than ever before, or another number of them.
  void caches_filled() noexcept { places_.clear(); }
  /// The samples are replaced in place.
  void caches_freshened() noexcept { places_.freshen(); }
  [[nodiscard]] LiveReading& reading() noexcept { return reading_; }
  [[nodiscard]] KeptLoaders& kept() noexcept { return kept_; }
  [[nodiscard]] const KeptLoaders& kept() const noexcept { return kept_; }
  /// False if no samples are left for the shortest unseen block at a boundary whose items take so
  /// many bytes per sample.
  [[nodiscard]] bool has_unseen(double item_bytes) const;
  /// `on` is the trainer itself or, for a live arm with overrides, that of the changed pipeline.
  BlockResult run(Trainer& on, const ArmBlock& block);

 private:
  /// What loads in a block.
  struct Turn {
    Executor* loader = nullptr;
    bool kept = false;              ///< its ring is, from block to block
    int settling = 0;               ///< untimed steps until a ring that begins empty has settled
    bool learns = false;            ///< what a pause of this loader empties is not known yet
    std::uint64_t first_batch = 0;  ///< of the caches, where loading begins
  };
  [[nodiscard]] Turn turn_of(Trainer& on, const ArmBlock& block);
  BlockResult run_loaded(Trainer& on, LoadRequest request, StepSource source,
                         const ArmBlock& block) const;
  /// Runs the settling steps in two blocks, so that what a pause empties is known after them.
  /// Returns their number.
  int settle_in_pieces(Trainer& on, const ArmBlock& block);
  /// From where the arm stopped in the caches.
  BlockResult run_arm(Trainer& on, const ArmBlock& block);
  BlockResult run_kind(Trainer& on, const ArmBlock& block);
  BlockResult run_live(Trainer& on, const ArmBlock& block, const StepSource& source = {},
                       std::size_t bypass_stage = 0, const HostCacheView& bypass_cache = {});
  /// True if workers load what no step gets: it has batches of a cache on the device.
  [[nodiscard]] bool steps_from_device(const Arm& arm) const;
  BlockResult run_bypass(const ArmBlock& block);
  BlockResult run_shadow(const ArmBlock& block);
  BlockResult run_replay(const ArmBlock& block);
  BlockResult replay_from_host(const ArmBlock& block, std::size_t boundary);
  BlockResult run_unseen(const ArmBlock& block);
  BlockResult replay_from_device(const ArmBlock& block, std::size_t boundary);
  [[nodiscard]] std::size_t max_batches(const Arm& arm) const;

  Trainer* trainer_;
  const BoundaryCache* cache_;
  KeptLoaders kept_;
  CachePlaces places_;
  Turn turn_;  ///< of the block that runs
  LiveReading reading_;
  UnseenSamples unseen_;
  Trainer* unfinished_ = nullptr;  ///< its block runs, or ended in an error
};

}  // namespace cachebisect
