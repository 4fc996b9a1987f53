// Which boundaries the next round visits and how long their blocks are: from the budget, the pilot
// and the evidence so far.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/findings.hpp"

namespace cachebisect {

struct PlanOptions {
  int stages = 1;               ///< n
  std::vector<int> candidates;  ///< boundaries that can be visited; 0 and n among them
  double budget_seconds = 60;
  double min_drop = 0.05;
  bool all = false;  ///< the user gave the list: all of it, whatever the budget
};

class CACHEBISECT_API Plan {
 public:
  /// Throws Error(usage) for candidates out of range.
  explicit Plan(PlanOptions options);

  /// Seconds of one training step at a boundary, from its pilot block. Sets the block's length:
  /// N_k = max(3, ceil(40 ms / step)).
  void set_pilot(int boundary, double step_seconds);
  void set_warmup(int steps) noexcept { warmup_ = steps; }
  [[nodiscard]] int warmup() const noexcept { return warmup_; }
  [[nodiscard]] bool piloted(int boundary) const { return step_seconds_.at(at(boundary)) > 0; }
  [[nodiscard]] int steps(int boundary) const;
  /// Timed steps of a block whose steps take so long; 0: not known.
  [[nodiscard]] static int steps_for(double step_seconds);
  /// Of the pilot; 0 without one.
  [[nodiscard]] double step_seconds(int boundary) const { return step_seconds_.at(at(boundary)); }
  [[nodiscard]] double block_seconds(int boundary) const;

  /// Share of throughput lost over the whole chain by the pilot; both ends must be piloted.
  [[nodiscard]] double pilot_loss() const;
  /// True when the pilot's loss is so small that the whole loss is looked at first (never where the
  /// user gave the list).
  [[nodiscard]] bool loss_first() const {
    return !options_.all && pilot_loss() < 0.6 * options_.min_drop;
  }
  /// Candidates to pilot before stages are looked at: all of them, or, where their blocks would
  /// take over a quarter of what is left, as many as fit, spread evenly.
  [[nodiscard]] std::vector<int> to_pilot(double seconds_left) const;

  /// The first rounds: only {0, n}.
  void look_at_loss();
  /// Stages from now on: all candidates when 15 rounds of them fit, else those around the part that
  /// the pilot names.
  void look_at_stages(double seconds_left);
  [[nodiscard]] bool looking_at_stages() const noexcept { return stages_; }
  /// The stages that the pilot names (1-based): the part with its largest drop.
  [[nodiscard]] std::vector<int> suspects() const;

  /// Opens and closes boundaries by what is known after a round.
  void update(const Findings& findings, double seconds_left);
  [[nodiscard]] const std::vector<int>& boundaries() const noexcept { return boundaries_; }
  /// A span with candidates between its ends.
  [[nodiscard]] bool can_open(const Part& part) const;
  /// Seconds of the next round, null blocks included.
  [[nodiscard]] double round_seconds() const;
  [[nodiscard]] double round_seconds(const std::vector<int>& boundaries) const;

 private:
  static std::size_t at(int boundary) { return static_cast<std::size_t>(boundary); }
  [[nodiscard]] Part pilot_part(int from, int to) const;
  void open(const Part& part, std::vector<int>& boundaries) const;

  PlanOptions options_;
  int warmup_ = 2;
  bool stages_ = false;
  std::vector<double> step_seconds_;  ///< by boundary; 0: no pilot
  std::vector<int> boundaries_;
};

}  // namespace cachebisect
