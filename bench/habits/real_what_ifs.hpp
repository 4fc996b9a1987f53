// What-ifs of real chains: predicted, verified, and compared with fresh runs of both pipelines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/habits/run.hpp"

#include "cachebisect/base/estimate.hpp"

namespace cachebisect::habits {

/// One answer about one chain. Gains: throughput after the change over that before it.
struct WhatIfCheck {
  std::string chain;
  std::uint64_t seed = 0;
  std::string change;
  Estimate predicted;  ///< without an interval: no prediction
  Estimate verified;   ///< by --verify
  Interval truth;      ///< of two fresh runs, at 99%
  double truth_gain = 1;

  /// True if an estimate's interval meets that of the fresh runs.
  [[nodiscard]] bool covers(const Estimate& gain) const;
};

/// Asks each chain what its wait and one worker more are worth. `settings.truth_seconds`: of each
/// fresh run.
void check_what_ifs(const RunSettings& settings,
                    const std::function<void(const WhatIfCheck&)>& finished);

[[nodiscard]] std::string what_if_header();
[[nodiscard]] std::string row(const WhatIfCheck& check);
/// Errors and coverage of predictions and verifications.
[[nodiscard]] std::string summary(const std::vector<WhatIfCheck>& checks);

}  // namespace cachebisect::habits
