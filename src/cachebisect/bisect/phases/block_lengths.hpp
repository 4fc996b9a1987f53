// How many steps a block has: enough for a rate, whole where a part would be a bias.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_runner.hpp"
#include "cachebisect/protocol/kinds.hpp"

namespace cachebisect {

struct ChainDescription;

/// Steps of the shortest block, timed and before them.
inline constexpr int kMinSteps = 3;
inline constexpr int kMinWarmup = 2;

struct BlockLengthOptions {
  int workers = 0;
  /// Batches per optimizer step. A step takes longer than the batches before it, so that part of a
  /// period is a bias: blocks and untimed steps are whole periods.
  int period = 1;
  /// Steps from one wait of the training thread to the next, which is long; 0: it never waits.
  int sync_every = 0;
  LoaderKind loader = LoaderKind::sample;
  bool keeps_queues = false;  ///< as ChainDescription's: a block goes on where the last one ended
  int ready_from = 0;         ///< first boundary whose cache holds whole batches; 0: not known
};

/// For the blocks of a job with this chain.
[[nodiscard]] CACHEBISECT_INTERNAL_API BlockLengthOptions
block_length_options(const ChainDescription& chain);

/// N = max(3, ceil(40 ms / step)) timed steps, rounded up to a multiple of the workers: workers
/// that start together finish batches in groups, and part of a group is a bias. With
/// LoaderKind::sample, blocks of slow steps are not stretched to more than four times N; nor are
/// those that would hold whole periods of waits. A plain value; not thread safe.
class CACHEBISECT_INTERNAL_API BlockLengths {
 public:
  explicit BlockLengths(BlockLengthOptions options) : options_(options) {}

  /// As whole_warmup() rounds it.
  void set_warmup(int steps) noexcept { warmup_ = whole_warmup(steps); }
  /// Whether workers that share batches of samples finish them one by one, and not in groups, as
  /// they do where much of their work is on whole batches. Then a part of a group tells as much as
  /// a whole one, if queues are kept.
  void set_even_batches(bool even) noexcept { even_batches_ = even; }
  /// The CPU quota may run out: blocks are whole periods of it, so that no arm profits from where
  /// in a period it began, and their untimed steps outlast the one that the arm before has used up.
  void set_quota_period(double seconds) noexcept { quota_period_ = seconds; }

  /// `steps` rounded up to whole periods, and with LoaderKind::batch to a multiple of the workers
  /// too: each of them has then finished a batch.
  [[nodiscard]] int whole_warmup(int steps) const noexcept;
  /// The same for the timed steps of a block at a boundary, or of a part of it that is timed alone:
  /// batches come in bursts there. Whole periods where no worker runs.
  [[nodiscard]] int whole_steps(int steps, int boundary) const noexcept {
    return is_ready(boundary) ? whole_periods(steps) : whole_warmup(steps);
  }

  /// Untimed steps of a pilot block; fewer if the cache holds whole batches, as no workers have to
  /// settle. The fewest if queues are kept: only the device's have to fill.
  [[nodiscard]] int warmup(int boundary) const noexcept;
  /// The same for a block whose steps take so many seconds: at least 8 ms of them, in which caches
  /// and clocks become those of its arm. Where queues are kept, a few more, so that the arm's
  /// blocks begin at each place of a sequence of batches in turn: all steps of a block share no
  /// factor with the workers, which finish batches in groups, or with two.
  [[nodiscard]] int warmup(int boundary, double step_seconds) const;
  /// Timed steps of a block whose steps take so many seconds; 0: not known.
  [[nodiscard]] int steps_for(double step_seconds, int boundary = 0) const;
  /// A block of an arm whose steps take so many seconds; 0: not known. With two workers or more its
  /// untimed steps are drawn: where in a group of batches a block begins is then noise and not a
  /// bias. With periods of several batches nothing is drawn: blocks are in phase with them. Nor
  /// where queues are kept: the next block goes on with the rest of the group.
  [[nodiscard]] PlannedBlock block(const Arm& arm, double step_seconds) const;
  /// Seconds of such a block.
  [[nodiscard]] double block_seconds(const Arm& arm, double step_seconds) const;

 private:
  /// True if the cache of the boundary holds whole batches, so that no worker runs.
  [[nodiscard]] bool is_ready(int boundary) const noexcept {
    return options_.ready_from > 0 && boundary >= options_.ready_from;
  }
  /// True if each of several workers loads batches of its own.
  [[nodiscard]] bool own_batches() const noexcept {
    return options_.loader == LoaderKind::batch && options_.workers > 1;
  }
  /// A multiple of the workers and of the period.
  [[nodiscard]] int group() const noexcept;
  [[nodiscard]] int whole_groups(int steps) const noexcept;
  [[nodiscard]] int whole_periods(int steps) const noexcept;
  /// Rounded up to a multiple of `unit`, and of the period of waits if that is not too far.
  [[nodiscard]] int whole_waits(int steps, int unit) const noexcept;
  [[nodiscard]] int steps_to_wander(int steps) const noexcept;
  [[nodiscard]] WarmupRange warmup_range(int boundary, double step_seconds) const;
  /// Before they are rounded to whole groups.
  [[nodiscard]] int usual_steps(double step_seconds) const;

  BlockLengthOptions options_;
  int warmup_ = kMinWarmup;
  bool even_batches_ = true;
  double quota_period_ = 0;  ///< seconds; 0: none runs out
};

}  // namespace cachebisect
