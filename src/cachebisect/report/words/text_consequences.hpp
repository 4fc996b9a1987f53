// What follows from a verdict, in sentences: what the loss costs, what fixing one stage would give,
// what limits then, what the loss consists of, and what the host spends a step in.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// What the loss costs of the job's price.
struct CostOfLoss {
  /// "$59 of every $98", or "at most $60 of every $98"; empty if no price was given, or if the loss
  /// has no interval or is none.
  std::string amount;
  bool certain = false;  ///< a verdict certifies that there is a loss
};
[[nodiscard]] CostOfLoss cost_of_loss(const Report& report);

/// Empty if none of it was measured.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> consequences(const Report& report);

}  // namespace cachebisect
