// Runs blocks for the bisector: repeats void ones, records every one, tracks the budget, reports
// progress.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/bisect_options.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/bisect/record/quota_watch.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_INTERNAL_API BlockRunner {
 public:
  /// Keeps references to all arguments. Every block that ran, void or not, is appended to
  /// `records`.
  BlockRunner(Replayer& replayer, const BisectOptions& options, std::vector<BlockRecord>& records);

  /// Starts the clock of the budget.
  void start();
  /// Seconds since start(), without void blocks and excluded time; 0 before start().
  [[nodiscard]] double elapsed() const;
  [[nodiscard]] double left() const { return budget_ - elapsed(); }
  [[nodiscard]] double budget() const noexcept { return budget_; }
  void set_budget(double seconds) noexcept { budget_ = seconds; }

  /// Excludes the time since `clock` (a value of clock()) from the budget. Returns those seconds.
  double exclude_since(double clock);
  [[nodiscard]] double clock() const { return replayer_->clock(); }
  [[nodiscard]] bool supports(const Arm& arm) const { return replayer_->supports(arm); }

  /// From now on freshen() puts so many fresh samples into the caches; 0: they stay.
  void set_fresh_samples(std::uint64_t samples) noexcept { fresh_samples_ = samples; }
  /// The caches hold so many samples that no round has used: the first ones need not fill them.
  void set_filled(std::uint64_t samples) noexcept { unused_samples_ = samples; }
  /// The period, in seconds, of a CPU quota that may run out in longer blocks; 0: none does, as far
  /// as is known.
  [[nodiscard]] double quota_period() const noexcept { return quota_.period_seconds(); }
  void begin_round(int round);
  /// Gives the caches other samples, before the first round of a super-round. Pilots (-1) do
  /// without. Throws as Replayer::freshen does.
  void freshen(int round);
  /// The round that the next blocks belong to.
  void set_round(int round, int super_round) noexcept {
    round_ = round;
    super_round_ = super_round;
  }
  /// Seconds that filling the caches again took; not measuring.
  [[nodiscard]] double refill_seconds() const noexcept { return refill_seconds_; }
  /// Runs a block until it is not void; also again, a few times in a run, if the device throttled
  /// or something else used up the CPU quota. Throws what the replayer throws, Error(interrupted)
  /// on a stop, and Error(data) when the process is suspended in many blocks in a row or a block
  /// has no samples or no duration.
  BlockResult run(const Arm& arm, int warmup_steps, int steps);
  /// The same for any block; the seed of `request` is replaced by the round's.
  BlockResult run(BlockRequest request);

  void set_phase(BlockPhase phase) noexcept { phase_ = phase; }
  /// The last block is a second block of its boundary too.
  void count_last_for_mean() { records_->back().also_for_mean = true; }
  /// The super-round of all blocks from number `first` on has ended early.
  void mark_unfinished(std::size_t first);

  void set_best(std::string best) { best_ = std::move(best); }
  void set_expected(double seconds) { expected_ = seconds; }
  void report_progress(const Arm& arm) const;

  [[nodiscard]] const std::vector<BlockRecord>& records() const noexcept { return *records_; }

 private:
  struct Attempt {
    BlockResult result;
    bool lost_quota = false;  ///< something else used up the CPU quota
  };
  Attempt run_once(BlockRequest request);
  /// Counts the repetition if a block that was throttled is to be run again.
  bool may_repeat(const BlockRequest& request);

  Replayer* replayer_;
  const BisectOptions* options_;
  double budget_;
  double started_ = 0;
  double excluded_seconds_ = 0;
  int round_ = -1;
  int super_round_ = -1;
  int throttled_repeats_ = 0;
  std::uint64_t fresh_samples_ = 0;
  std::uint64_t unused_samples_ = 0;
  bool refuses_fresh_ = false;  ///< the replayer cannot fill its caches again
  double refill_seconds_ = 0;
  QuotaWatch quota_;
  bool started_once_ = false;
  BlockPhase phase_ = BlockPhase::pilot;
  std::string best_;
  std::optional<double> expected_;
  std::vector<BlockRecord>* records_;
};

}  // namespace cachebisect
