#include "cachebisect/bisect/record/block_runner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"

namespace cachebisect {
namespace {

/// A machine that suspends so many blocks in a row will suspend the next.
constexpr int kMaxVoidInARow = 20;
constexpr int kMaxThrottledRepeats = 8;  ///< in a run

}  // namespace

BlockRunner::BlockRunner(Replayer& replayer, const BisectOptions& options,
                         std::vector<BlockRecord>& records)
    : replayer_(&replayer),
      options_(&options),
      budget_(options.budget_seconds),
      records_(&records) {}

void BlockRunner::start() {
  quota_.skip(replayer_->read_machine());
  started_ = replayer_->clock();
  started_once_ = true;
}

double BlockRunner::elapsed() const {
  if (!started_once_) return 0;
  return std::max(0.0, replayer_->clock() - started_ - excluded_seconds_);
}

double BlockRunner::exclude_since(double clock) {
  const double seconds = std::max(0.0, replayer_->clock() - clock);
  if (started_once_) excluded_seconds_ += seconds;
  return seconds;
}

void BlockRunner::begin_round(int round) {
  set_round(round, round);
  replayer_->begin_round();
}

void BlockRunner::freshen(int round) {
  if (round < 0 || fresh_samples_ == 0 || refuses_fresh_) return;
  if (std::exchange(unused_samples_, 0) >= fresh_samples_) return;
  // Without a limit, samples that are slow to make would take far longer than the budget.
  if (refill_seconds_ > elapsed()) return;
  const double before = replayer_->clock();
  refuses_fresh_ = !replayer_->freshen(fresh_samples_, options_->stop);
  refill_seconds_ += exclude_since(before);
}

BlockResult BlockRunner::run(const Arm& arm, int warmup_steps, int steps) {
  return run({.arm = arm, .steps = steps, .warmup_steps = warmup_steps});
}

BlockResult BlockRunner::run(BlockRequest request) {
  const Arm& arm = request.arm;
  request.seed = RandomStream({.seed = options_->seed,
                               .index = static_cast<std::uint64_t>(super_round_ + 1),
                               .stage = hash_name("block")})
                     .next_u64();
  for (int attempt = 0; attempt < kMaxVoidInARow; ++attempt) {
    if (options_->stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
    const double before = replayer_->clock();
    auto [result, lost_quota] = run_once(request);
    const bool throttled = lost_quota || result.device.throttled();
    const bool repeated = !result.is_void && throttled && may_repeat(request);
    result.is_void = result.is_void || repeated;
    records_->push_back({.phase = phase_,
                         .round = round_,
                         .super_round = super_round_,
                         .arm = arm,
                         .result = result,
                         .repeated_for_throttling = repeated});
    if (result.is_void) {
      exclude_since(before);
      continue;
    }
    if (!std::isfinite(result.seconds) || result.seconds <= 0 || result.samples == 0) {
      throw Error(ErrorKind::data, std::string("a block of the arm ") + to_string(arm.kind) +
                                       " at boundary " + std::to_string(arm.boundary) +
                                       " took no time or had no samples: the clock or the "
                                       "training step is not what it says");
    }
    report_progress(arm);
    return result;
  }
  throw Error(ErrorKind::data,
              "the process was suspended, or did something other than training, in " +
                  std::to_string(kMaxVoidInARow) +
                  " blocks in a row; nothing can be measured like this");
}

BlockRunner::Attempt BlockRunner::run_once(BlockRequest request) {
  if (!quota_.has_quota()) return {replayer_->run(request, options_->stop)};
  quota_.skip(replayer_->read_machine());
  const bool in_groups = request.groups > 1;
  quota_.prepare(request);
  BlockResult result = replayer_->run(request, options_->stop);
  quota_.settle(result, in_groups);
  const bool lost = quota_.disturbed(result, replayer_->read_machine());
  return {std::move(result), lost};
}

/// Throttling that goes on is how the machine runs: then the blocks count, and a warning says so. A
/// block in groups is there to show it.
bool BlockRunner::may_repeat(const BlockRequest& request) {
  if (request.groups > 1 || request.max_seconds > 0) return false;
  if (throttled_repeats_ >= kMaxThrottledRepeats) return false;
  ++throttled_repeats_;
  return true;
}

void BlockRunner::mark_unfinished(std::size_t first) {
  for (std::size_t i = first; i < records_->size(); ++i) (*records_)[i].unfinished = true;
}

void BlockRunner::report_progress(const Arm& arm) const {
  if (!options_->progress) return;
  Progress progress;
  progress.phase = to_string(phase_);
  progress.round = std::max(0, round_);
  progress.arm = arm;
  progress.best = best_;
  progress.elapsed_seconds = elapsed();
  progress.budget_seconds = budget_;
  progress.expected_seconds = expected_;
  options_->progress(progress);
}

}  // namespace cachebisect
