// What the loss costs of the job's price, in words.
#pragma once

#include <string>

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct CostOfLoss {
  /// "$59 of every $98", or "at most $60 of every $98"; empty if no price was given, or if the loss
  /// has no interval or is none.
  std::string amount;
  bool certain = false;  ///< a verdict certifies that there is a loss
};
[[nodiscard]] CostOfLoss cost_of_loss(const Report& report);

}  // namespace cachebisect
