// The pilot: one block per arm that sets block lengths, warm-up, plan and prior. It is not
// evidence.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/round_plan.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"

namespace cachebisect {

class CACHEBISECT_INTERNAL_API Pilot {
 public:
  /// Keeps references to all three.
  Pilot(BlockRunner& runner, RoundPlan& plan, const ChainDescription& chain);

  /// Measures boundaries n and 0, after a block that only warms up, gives the plan what the law
  /// expects, and chooses the untimed steps w. On the emulated device: 2 with at most one worker,
  /// else max(4, W, ring), because workers that start together deliver in groups. Elsewhere: the
  /// smallest of {2, 4, max(4, W, ring)} that agrees with the next within 1%. Two or three rings
  /// instead of one if workers crowd out a busy training thread, or work long on whole batches.
  /// With LoaderKind::batch all of these are rounded up to a multiple of the workers.
  void ends();
  /// Measures the boundaries that the plan asks for, one after the other, then those of its next
  /// round, while time is left.
  void explore();

 private:
  /// Seconds of a step.
  double block(int boundary, int warmup, int steps);
  /// The same, for as many steps as it needs if they take about `step_seconds`: at least a period
  /// of a CPU quota that runs out, or the part that it covers does not tell what steps take.
  double block_within_quota(int boundary, double step_seconds);
  [[nodiscard]] int pilot_steps(double step_seconds) const;
  void measure(int boundary);
  /// Seconds of a step of live.
  double first_of_live();
  void choose_warmup(double first_step);
  /// How many rings of batches the workers need to settle, judged by a live block.
  [[nodiscard]] int rings_to_settle(const BlockResult& live) const;

  BlockRunner* runner_;
  RoundPlan* plan_;
  const ChainDescription* chain_;
  bool emulated_;
  int max_warmup_;
  int ceiling_;
};

}  // namespace cachebisect
