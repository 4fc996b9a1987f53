// The pilot: one block an arm that sets lengths, warm-up, plan and prior, and is not evidence.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/search/plan.hpp"

namespace cachebisect {

class CACHEBISECT_API Pilot {
 public:
  /// Keeps references to all three.
  Pilot(BlockRunner& runner, Plan& plan, const ChainDescription& chain);

  /// Boundaries n and 0, after a block that only warms up; chooses the untimed steps w: on the
  /// emulated device 2 with at most one worker, else max(4, W, ring), as workers that start
  /// together deliver in groups; elsewhere the smallest of {2, 4, max(4, W, ring)} that agrees with
  /// the next within 1%. Where workers crowd out a busy training thread, or work long on whole
  /// batches, two and three rings take the place of one. Gives the plan what the law expects.
  void ends();
  /// Boundaries that the plan asks for, one after the other, then those of its next round, while
  /// time is left.
  void explore();

 private:
  /// Seconds of a step.
  double block(int boundary, int warmup, int steps);
  [[nodiscard]] int pilot_steps(double step_seconds) const;
  void measure(int boundary);
  void choose_warmup(double first_step);
  /// How many rings of batches several workers need to settle, by a live block.
  [[nodiscard]] int rings_to_settle(const BlockResult& live) const;

  BlockRunner* runner_;
  Plan* plan_;
  const ChainDescription* chain_;
  bool emulated_;
  int most_warmup_;
  int ceiling_;
};

}  // namespace cachebisect
