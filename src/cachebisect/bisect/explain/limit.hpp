// What limits a pipeline in one arm: the training step, or the busiest of the stages that run.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/arm_table.hpp"

namespace cachebisect {

/// Names the training step among what may limit.
inline constexpr const char* kTrainingStep = "training step";

/// What a limit is sought from.
struct LimitQuestion {
  ArmTotals totals;                    ///< of the arm
  double ceiling_seconds = 0;          ///< a sample, the training step alone in the same rounds
  int free_stage = 0;                  ///< 1-based; its work is not done in this arm; 0: none
  double device_side_drop = 0;         ///< the largest drop among the stages behind the host's
  std::string device_side_stage = {};  ///< that stage; empty when none is known
};

/// kTrainingStep or a stage's name; empty where the counters do not say.
[[nodiscard]] CACHEBISECT_API std::string find_limit(const ChainDescription& chain,
                                                     const LimitQuestion& question);

}  // namespace cachebisect
