// Explains while the verdict is still measured: as soon as its rounds point to one stage, they run
// the shadow arm and the bypass of that stage too.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/arm_rounds.hpp"
#include "cachebisect/bisect/phases/extra_arms.hpp"
#include "cachebisect/bisect/phases/round_plan.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_INTERNAL_API EarlyExplanation final : public ExtraArms {
 public:
  /// Keeps references to all.
  EarlyExplanation(const Replayer& replayer, BlockRunner& blocks, const RoundPlan& plan,
                   const BisectOptions& options);

  /// Empty unless every round so far shows the same stage above min_drop, and the extra blocks are
  /// a small share of a round; and once they have answered.
  [[nodiscard]] std::vector<PlannedBlock> next(const VerdictState& state,
                                               const RoundTable& rounds) override;
  [[nodiscard]] RoundTable& table() override { return table_; }
  [[nodiscard]] const RoundTable& table() const noexcept { return table_; }
  /// The arms whose steps were timed.
  [[nodiscard]] const std::vector<TimedArm>& timed() const noexcept { return known_; }

 private:
  [[nodiscard]] bool has_answers(const std::vector<Arm>& arms) const;
  [[nodiscard]] bool is_cheap(const std::vector<TimedArm>& arms) const;
  /// With the step time that the plan gives; what freeing the stage leaves of live, for its bypass.
  [[nodiscard]] std::vector<TimedArm> expected(const std::vector<Arm>& arms) const;
  /// With the step time of a block of each arm, which is run if the arm is new.
  [[nodiscard]] std::vector<TimedArm> measured(std::vector<TimedArm> arms);

  const Replayer* replayer_;
  BlockRunner* blocks_;
  const RoundPlan* plan_;
  const BisectOptions* options_;
  std::vector<TimedArm> known_;
  RoundTable table_;
};

}  // namespace cachebisect
