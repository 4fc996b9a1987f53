// Runs blocks for the bisector: repeats void ones, keeps every one, counts the budget, tells the
// user.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/bisect.hpp"

namespace cachebisect {

class CACHEBISECT_API BlockRunner {
 public:
  /// Keeps references to both.
  BlockRunner(Replayer& replayer, const BisectOptions& options);

  /// The budget begins to count.
  void start();
  /// Seconds measured so far; blocks in which the process was suspended, and what was left out, do
  /// not count.
  [[nodiscard]] double elapsed() const;
  [[nodiscard]] double left() const { return options_->budget_seconds - elapsed(); }

  /// The time since then was not measuring: caches were filled. Returns its seconds.
  double leave_out_since(double clock);
  [[nodiscard]] double clock() const { return replayer_->clock(); }

  void begin_round(int round);
  /// A block that is not void. Throws what the replayer throws, Error(interrupted) on a stop, and
  /// Error(data) when the process is suspended again and again or a block makes no sense.
  BlockResult run(const Arm& arm, int warmup_steps, int steps);

  void set_phase(std::string phase) { phase_ = std::move(phase); }
  void set_best(std::string best) { best_ = std::move(best); }
  void set_expected(double seconds) { expected_ = seconds; }
  void report_progress(const Arm& arm) const;

  [[nodiscard]] const std::vector<BlockRecord>& records() const noexcept { return records_; }
  [[nodiscard]] int void_blocks() const noexcept { return void_blocks_; }

 private:
  Replayer* replayer_;
  const BisectOptions* options_;
  double started_ = 0;
  double left_out_seconds_ = 0;
  int void_blocks_ = 0;
  int round_ = -1;
  bool started_once_ = false;
  std::string phase_ = "pilot";
  std::string best_;
  std::optional<double> expected_;
  std::vector<BlockRecord> records_;
};

}  // namespace cachebisect
