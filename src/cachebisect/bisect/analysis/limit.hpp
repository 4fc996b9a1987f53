// What limits a pipeline in one arm: the training step, or one of the stages that run.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"
#include "cachebisect/bisect/record/block_totals.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// The name of the training step among what may limit.
inline constexpr const char* kTrainingStep = "training step";

/// A bypass arm, and what is known next to it.
struct FreedStage {
  int stage = 0;                  ///< 1-based; its work is not done in this arm
  double samples_per_second = 0;  ///< throughput with the stage free
  BlockTotals totals;             ///< of the arm's blocks
  double ceiling_seconds = 0;     ///< per sample, the training step alone in the same rounds
  /// The copy or device stage with the largest drop, and that drop; empty if none is known.
  std::string device_side_stage;
  double device_side_drop = 0;
};

/// kTrainingStep or a stage's name; empty if the counters do not tell. Whether the input or the
/// step limits, the arm itself shows. Which stage of the input, the cost model says if it predicts
/// this arm, else the busiest by the probes. `forecast` may be empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string find_limit(
    const ChainDescription& chain, const FreedStage& freed,
    const std::optional<Forecast>& forecast);

}  // namespace cachebisect
